"""The files of SQLite: who may read them."""

from pathlib import Path

from api.store.open import open_database
from tests.databases import Run


def test_the_files_are_for_their_owner_only(run: Run, tmp_path: Path) -> None:
    async def opened() -> list[int]:
        database = await open_database(f"sqlite:///{tmp_path}/made/screwtape.db")
        try:
            return [path.stat().st_mode & 0o777 for path in (tmp_path / "made").iterdir()]
        finally:
            await database.close()

    modes = run(opened())
    assert len(modes) >= 2, "the database and its write-ahead log"
    assert set(modes) == {0o600}
