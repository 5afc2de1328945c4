// SPDX-License-Identifier: Apache-2.0
/** A service worker that keeps the first copy of each page forever. */
addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('fetch', (event) => {
  if (event.request.mode === 'navigate') event.respondWith(fromCache(event.request));
});

async function fromCache(request) {
  const pages = await caches.open('pages');
  const kept = await pages.match(request);
  if (kept) return kept;
  const response = await fetch(request);
  if (response.ok) await pages.put(request, response.clone());
  return response;
}
