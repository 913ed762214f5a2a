"""What a key's holder has set: defaults, changes, and an end with the key."""

from api.store import keys, settings
from api.store.database import Database
from api.store.settings import Settings
from tests.databases import Run
from tests.store.ledger import another_node, hash_of, left, open_key, rows_in

CHANGED = Settings(0, "https://hooks.example.com/a?b=c&d=%20#e", "sealed secret")


def test_a_key_without_a_row_has_the_defaults(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        assert await database.read(settings.read, "key_one") == Settings(1, "", "")
        assert (await left(database)).retains

    run(scenario())


def test_settings_replace_each_other_and_stay_with_their_key(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database, "one")
        await open_key(database, "two")
        assert await database.write(settings.save, "key_one", CHANGED)
        assert await database.read(settings.read, "key_one") == CHANGED
        assert await database.read(settings.read, "key_two") == Settings()
        assert not (await left(database)).retains
        assert await database.write(settings.save, "key_one", Settings())
        assert await database.read(settings.read, "key_one") == Settings()
        assert await rows_in(database, "settings") == 1

    run(scenario())


def test_nobody_has_no_settings(database: Database, run: Run) -> None:
    async def scenario() -> None:
        assert not await database.write(settings.save, "key_one", CHANGED)
        assert await rows_in(database, "settings") == 0

    run(scenario())


def test_settings_survive_a_restart_and_a_rotation_and_go_with_the_key(
    database: Database, database_url: str, run: Run
) -> None:
    async def scenario() -> None:
        await open_key(database)
        await database.write(settings.save, "key_one", CHANGED)
        await database.write(keys.rotate, hash_of("one"), hash_of("newer"), "scr_newer")
        await database.close()
        async with another_node(database_url) as reopened:
            assert await reopened.read(settings.read, "key_one") == CHANGED
            await reopened.write(keys.delete, hash_of("newer"))
            assert await rows_in(reopened, "settings") == 0

    run(scenario())
