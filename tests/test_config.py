"""Settings: what is read from where, what is refused, and the table that documents them."""

import logging
import re
from dataclasses import fields
from ipaddress import ip_network
from pathlib import Path

import pytest

from api.config import SETTINGS, Config, ConfigFaults, from_env, settings_table
from tests.examples import ROOT

SECRETS = {"SECRET_KEY": "secret-1-of-this-test", "ADMIN_TOKEN": "secret-2-of-this-test"}


@pytest.mark.promise("ops.listen_settings")
@pytest.mark.promise("ops.database_url")
@pytest.mark.promise("ops.laptop_defaults")
def test_everything_has_a_default_for_a_laptop() -> None:
    config = from_env({})
    assert (config.host, config.port, config.workers) == ("127.0.0.1", 8000, 1)
    assert config.database_url == "sqlite:///var/screwtape.db"
    assert config.sqlite_path == Path("var/screwtape.db")
    assert (config.signups_per_hour, config.key_requests_per_second) == (10, 50)
    assert config.log_level == logging.INFO
    assert not config.public_base_url
    assert not config.allowed_origins
    assert not config.trusted_proxies
    assert not config.admin_token
    assert not config.secret_key


BAD = {
    "PORT": ["x", "-1", "65536", "80.0", "8000 8001"],
    "WORKERS": ["0", "-1", "many"],
    "PUBLIC_BASE_URL": [
        "screwtape.ai",
        "ftp://screwtape.ai",
        "https://",
        "https://a.example/path",
        "https://a.example?q=1",
        "https://a.example#f",
    ],
    "DATABASE_URL": ["screwtape.db", "sqlite:///", "mysql://localhost/x", "postgresql://localhost:port/x"],
    "ADMIN_TOKEN": ["short", "sixteen letters with spaces", "é" * 20],
    "ALLOWED_ORIGINS": ["app.example.com", "https://a.example/path", "https://a.example, *", "null"],
    "TRUSTED_PROXIES": ["proxy", "10.0.0.0/33", "10.0.0.1, 300.1.1.1"],
    "X402_FACILITATOR_URL": [
        "facilitator.example",
        "ftp://facilitator.example",
        "https://",
        "https://user:word@facilitator.example",
        "https://facilitator.example?key=1",
        "https://facilitator.example#f",
    ],
    "X402_FACILITATOR_HEADERS": [
        "Authorization: x",
        "[]",
        '{"pay": {}}',
        '{"verify": "x"}',
        '{"verify": {"Authorization": 1}}',
        '{"verify": {"Bad Name": "x"}}',
        '{"verify": {"Authorization": "x\\r\\nHost: y"}}',
    ],
    "X402_TIMEOUT_S": ["0", "-1", "61", "nan", "inf", "soon"],
    "LLM_API_KEY": ["two words", "schlüssel", "a\nHost: x"],
    "LLM_BASE_URL": [
        "openrouter.ai",
        "ftp://models.example",
        "https://",
        "https://u:p@models.example",
        "https://m/?a=1",
    ],
    "LLM_MODEL": ["two words", "x" * 201, "a\tb"],
    "LLM_FALLBACK_MODEL": ["two words"],
    "LLM_TIMEOUT_S": ["0", "-1", "61", "nan", "soon"],
    "LLM_JSON_MODE": ["yes", "2", "true"],
    "SIGNUPS_PER_HOUR": ["-1", "ten", "1.5", "10000000"],
    "KEY_REQUESTS_PER_SECOND": ["-1", "fast"],
    "CLIENT_TIMEOUT_S": ["0", "61", "soon"],
    "MAX_CONNECTIONS": ["0", "-1", "1000001", "many"],
    "LOG_LEVEL": ["loud", "7"],
}


@pytest.mark.promise("ops.config_faults")
@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD.items() for value in values])
def test_a_bad_value_is_refused_with_what_is_wanted(name: str, value: str) -> None:
    with pytest.raises(ConfigFaults) as caught:
        from_env({name: value})
    (fault,) = caught.value.faults
    assert fault.startswith(f"{name} must be ")
    assert fault.endswith(".")


@pytest.mark.promise("ops.config_faults")
def test_all_faults_are_told_at_once() -> None:
    environment = {name: values[0] for name, values in BAD.items()}
    with pytest.raises(ConfigFaults) as caught:
        from_env(environment)
    assert [fault.split()[0] for fault in caught.value.faults] == [s.name for s in SETTINGS if s.name in BAD]
    assert str(caught.value).splitlines() == caught.value.faults


@pytest.mark.promise("ops.secret_key_postgresql")
def test_postgresql_wants_a_secret_key() -> None:
    url = {"DATABASE_URL": "postgresql://user:password@db.example/screwtape"}
    with pytest.raises(ConfigFaults, match="SECRET_KEY must be set with PostgreSQL"):
        from_env(url)
    assert from_env({**url, **SECRETS}).database_url == url["DATABASE_URL"]


def test_faults_do_not_repeat_secrets() -> None:
    with pytest.raises(ConfigFaults) as caught:
        from_env(
            {
                "ADMIN_TOKEN": "hidden words",
                "LLM_API_KEY": "hidden key",
                "DATABASE_URL": "postgres://user:hidden@db/x",
                "PORT": "x",
            }
        )
    assert "hidden" not in str(caught.value)


@pytest.mark.promise("ops.logs")
def test_secrets_are_not_in_the_repr() -> None:
    config = from_env({**SECRETS, "DATABASE_URL": "postgresql://user:secret-3@db.example/x"})
    assert "secret-" not in repr(config)
    assert config.secret_key == SECRETS["SECRET_KEY"]


@pytest.mark.promise("ops.environment_wins")
def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    dotenv = tmp_path / ".env"
    dotenv.write_text("# local\nPORT=9000\nHOST='0.0.0.0'\nexport LOG_LEVEL=debug\nUNKNOWN=1\n", encoding="utf-8")
    config = from_env({"PORT": "9001"}, dotenv)
    assert (config.port, config.host, config.log_level) == (9001, "0.0.0.0", logging.DEBUG)
    assert from_env({}, dotenv).port == 9000
    assert from_env({}, tmp_path / "missing").port == 8000


@pytest.mark.promise("ops.config_faults")
def test_faults_of_the_file_and_of_the_environment_are_told_together(tmp_path: Path) -> None:
    dotenv = tmp_path / ".env"
    dotenv.write_text("PORT=x\n", encoding="utf-8")
    with pytest.raises(ConfigFaults) as caught:
        from_env({"LOG_LEVEL": "loud"}, dotenv)
    assert len(caught.value.faults) == 2


def test_values_are_read_as_meant() -> None:
    config = from_env(
        {
            "PUBLIC_BASE_URL": "https://judge.example.org/",
            "ALLOWED_ORIGINS": " https://a.example ,http://localhost:5173,, ",
            "TRUSTED_PROXIES": "10.0.0.1, 2001:db8::/32, 192.168.7.9/16",
            "LOG_LEVEL": "WARNING",
            "KEY_REQUESTS_PER_SECOND": "0",
            "PORT": " 0 ",
        }
    )
    assert config.public_base_url == "https://judge.example.org"
    assert config.allowed_origins == ("https://a.example", "http://localhost:5173")
    assert config.trusted_proxies == tuple(map(ip_network, ("10.0.0.1/32", "2001:db8::/32", "192.168.0.0/16")))
    assert (config.log_level, config.key_requests_per_second, config.port) == (logging.WARNING, 0, 0)


@pytest.mark.promise("ops.facilitator_settings")
def test_the_facilitator_is_read_with_its_headers() -> None:
    headers = '{"verify": {"Authorization": "Bearer secret-4"}, "settle": {"X-Key": "secret-5", "X-More": "1"}}'
    config = from_env(
        {
            "X402_FACILITATOR_URL": "https://facilitator.example/v2/",
            "X402_FACILITATOR_HEADERS": headers,
            "X402_TIMEOUT_S": "2.5",
        }
    )
    assert config.x402_facilitator_url == "https://facilitator.example/v2"
    assert config.x402_facilitator_headers["settle"] == {"X-Key": "secret-5", "X-More": "1"}
    assert config.x402_timeout_s == 2.5
    assert "secret-" not in repr(config)
    with pytest.raises(ConfigFaults) as caught:
        from_env({"X402_FACILITATOR_HEADERS": '{"verify": {"Authorization": "hidden'})
    assert "hidden" not in str(caught.value)
    none = from_env({})
    assert (none.x402_facilitator_url, none.x402_facilitator_headers, none.x402_timeout_s) == ("", {}, 30)


@pytest.mark.promise("ops.llm_settings")
def test_the_model_is_read_and_has_defaults() -> None:
    none = from_env({})
    assert (none.llm_api_key, none.llm_model, none.llm_fallback_model) == ("", "", "")
    assert (none.llm_base_url, none.llm_timeout_s, none.llm_json_mode) == ("https://openrouter.ai/api/v1", 30, True)
    config = from_env(
        {
            "LLM_API_KEY": "secret-6",
            "LLM_BASE_URL": "http://127.0.0.1:11434/v1/",
            "LLM_MODEL": "a/b:free",
            "LLM_FALLBACK_MODEL": "c",
            "LLM_TIMEOUT_S": "45",
            "LLM_JSON_MODE": "0",
        }
    )
    assert (config.llm_api_key, config.llm_base_url) == ("secret-6", "http://127.0.0.1:11434/v1")
    assert (config.llm_model, config.llm_fallback_model) == ("a/b:free", "c")
    assert (config.llm_timeout_s, config.llm_json_mode) == (45, False)
    assert "secret-" not in repr(config)


@pytest.mark.promise("x402.margin")
@pytest.mark.promise("ops.config_faults")
def test_a_model_that_leaves_a_payment_no_time_is_a_fault() -> None:
    with pytest.raises(ConfigFaults, match="LLM_TIMEOUT_S must be 45 at most"):
        from_env({"LLM_API_KEY": "k", "LLM_TIMEOUT_S": "45.1"})
    assert from_env({"LLM_TIMEOUT_S": "60"}).llm_timeout_s == 60, "no model is asked without a key"


def test_every_setting_is_a_field_and_every_field_a_setting() -> None:
    names = [setting.name.lower() for setting in SETTINGS]
    assert len(set(names)) == len(names)
    assert set(names) == {field.name for field in fields(Config)}


@pytest.mark.promise("ops.settings_table")
def test_the_readme_has_the_table_of_the_code() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    match = re.search(r"<!-- settings[^\n]*-->\n(.*?)\n<!-- /settings -->", readme, re.DOTALL)
    assert match
    assert match[1] == settings_table()


@pytest.mark.promise("ops.settings_table")
def test_the_table_has_every_setting_with_its_default() -> None:
    header, rule, *rows = settings_table().splitlines()
    assert (header, rule) == ("| variable | default | meaning |", "|---|---|---|")
    assert len(rows) == len(SETTINGS)
    for row, setting in zip(rows, SETTINGS, strict=True):
        assert row.startswith(f"| {setting.name} | {setting.default or '(none)'} | ")
        assert row.count("|") == 4
        assert setting.meaning.endswith(".")
