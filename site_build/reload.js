"use strict";
// Served by `make dev` only: asks which build is the newest, is answered when there is a newer one, and loads the page again.
const seen = document.currentScript.dataset.build;
const wait = async () => {
  try {
    const answer = await fetch(`/-dev/build?seen=${seen}`);
    if (answer.ok && String((await answer.json()).build) !== seen) { location.reload(); return; }
    if (answer.ok) { wait(); return; }
  } catch { /* the server is away: ask again soon */ }
  setTimeout(wait, 1000);
};
wait();
