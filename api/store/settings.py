"""What a key's holder has set. A key without a row has the defaults."""

from dataclasses import dataclass

from api.store.database import Tx


@dataclass(frozen=True, slots=True)
class Settings:
    """`alert_webhook_secret` is encrypted; both webhook fields are "" when there is none."""

    retention_days: int = 1
    alert_webhook_url: str = ""
    alert_webhook_secret: str = ""


async def read(tx: Tx, key_id: str) -> Settings:
    """The key's settings."""
    row = await tx.one("SELECT * FROM settings WHERE key_id = :key_id", key_id=key_id)
    if row is None:
        return Settings()
    return Settings(row["retention_days"], row["alert_webhook_url"], row["alert_webhook_secret"])


async def save(tx: Tx, key_id: str, settings: Settings) -> bool:
    """Replaces the key's settings; False when the key is gone."""
    saved = await tx.run(
        """INSERT INTO settings (key_id, retention_days, alert_webhook_url, alert_webhook_secret)
        SELECT k.id, :retention_days, :url, :secret FROM keys k WHERE k.id = :key_id
        ON CONFLICT (key_id) DO UPDATE SET retention_days = excluded.retention_days,
            alert_webhook_url = excluded.alert_webhook_url, alert_webhook_secret = excluded.alert_webhook_secret""",
        key_id=key_id,
        retention_days=settings.retention_days,
        url=settings.alert_webhook_url,
        secret=settings.alert_webhook_secret,
    )
    return saved > 0
