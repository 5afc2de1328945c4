// SPDX-License-Identifier: Apache-2.0
/** A service worker that passes everything on, as network-first ones do with navigations. */
addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('fetch', (event) => event.respondWith(fetch(event.request)));
