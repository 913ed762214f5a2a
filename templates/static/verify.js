// Verifies a receipt as the server does: the same checks in the same order. It comes when it is first wanted
const utf8 = (text) => new TextEncoder().encode(text);
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const names = (value) => Object.keys(value).sort().join();

// RFC 8785: keys by UTF-16 units; numbers and strings as ECMAScript writes them
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isObject(value)) return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join()}}`;
}

function base64url(bytes) {
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function bytesOf(text) {
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
  if (base64url(bytes) !== text) throw new RangeError("not canonical base64url");
  return bytes;
}

// What was pasted: a receipt, or a whole response around one
export function parts(given) {
  const { receipt, ...response } = isObject(given) ? given : {};
  return isObject(receipt) && !("signatures" in response) ? [receipt, response] : [given, null];
}

export async function canVerify() {
  try {
    return Boolean(await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]));
  } catch { return false; }
}

// Keys come from this server's list and from nowhere that the receipt names
async function refusalOf(receipt, issuer) {
  if (!isObject(receipt) || !Array.isArray(receipt.signatures)) return "malformed";
  if (utf8(JSON.stringify(receipt)).length > 16384) return "malformed";
  const { signatures: [entry, ...others], ...content } = receipt;
  if (entry === undefined || others.length) return "signature_count";
  if (!isObject(entry) || names(entry) !== "protected,signature") return "malformed";
  if (typeof entry.protected !== "string" || typeof entry.signature !== "string") return "malformed";
  let header, signature;
  try {
    header = bytesOf(entry.protected);
    signature = bytesOf(entry.signature);
  } catch { return "not_base64url"; }
  try {
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(header));
  } catch { return "wrong_header"; }
  if (!isObject(header) || names(header) !== "alg,kid,typ" || header.typ !== "JOSE") return "wrong_header";
  if (header.alg !== "EdDSA" && header.alg !== "Ed25519") return "wrong_algorithm";
  const listed = await (await fetch("/.well-known/jwks.json", { cache: "no-cache" })).json();
  const key = listed.keys.find(({ kid, kty, crv }) => kid === header.kid && kty === "OKP" && crv === "Ed25519");
  if (!key) return "unknown_key";
  if (receipt.issuer !== issuer) return "wrong_issuer";
  if (receipt.receipt_version !== 1) return "unsupported_version";
  const name = { name: "Ed25519" };
  const known = await crypto.subtle.importKey("jwk", { kty: key.kty, crv: key.crv, x: key.x }, name, false, ["verify"]);
  const text = utf8(`${entry.protected}.${base64url(utf8(canonical(content)))}`);
  return (await crypto.subtle.verify(name, known, signature, text)) ? "" : "wrong_signature";
}

// Why the receipt is not valid, or not about the response around it; "" when all is well
export async function refusal(receipt, response, issuer) {
  const reason = await refusalOf(receipt, issuer);
  if (reason || response === null) return reason;
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", utf8(canonical(response))));
  const hash = "sha-256:" + Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hash === receipt.response_hash ? "" : "wrong_response_hash";
}
