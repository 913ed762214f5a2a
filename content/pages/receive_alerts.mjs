// Receives drift alerts with Node alone. Put it behind TLS: alerts go to https only.
//
//     SCREWTAPE_WEBHOOK_SECRET=whsec_... PORT=8080 node receive_alerts.mjs

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const secret = process.env.SCREWTAPE_WEBHOOK_SECRET;
if (!secret) throw new Error("SCREWTAPE_WEBHOOK_SECRET is not set");
const oldest = 25 * 3600 * 1000; // deliveries are tried again for 24 hours
const seen = new Map(); // use your database: a restart must not forget

function verify(body, signature) {
  const expected = createHmac("sha256", secret).update(body).digest();
  const given = Buffer.from(signature ?? "", "base64url");
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  const alert = JSON.parse(body);
  return Date.now() - Date.parse(alert.created_at) > oldest ? null : alert;
}

function isNew(alert) {
  for (const [id, at] of seen) if (Date.now() - at > oldest) seen.delete(id);
  if (seen.has(alert.id)) return false;
  seen.set(alert.id, Date.now());
  return true;
}

createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  const alert = verify(Buffer.concat(parts), request.headers["x-screwtape-signature"]);
  if (alert && isNew(alert)) console.log(alert.type, alert.id); // hand it on here, quickly
  response.writeHead(alert ? 204 : 400).end();
}).listen(Number(process.env.PORT ?? 8080), "127.0.0.1");
