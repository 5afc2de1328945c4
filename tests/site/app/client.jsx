// SPDX-License-Identifier: Apache-2.0
/** The browser's half: hydrates the page, asks the worker, and registers the service worker if the site has one. */
import React from 'react';
import { hydrateRoot } from 'react-dom/client';
import { Page } from './pages.jsx';

const { path, worker: workerUrl, serviceWorker } = JSON.parse(document.getElementById('state').textContent);

performance.mark('hydrate start');
hydrateRoot(document.getElementById('root'), <Page path={path} />);

const worker = new Worker(workerUrl);
worker.onmessage = ({ data }) => {
  performance.measure('suggestions', 'hydrate start');
  document.documentElement.dataset.suggestions = data.length;
  worker.terminate();
};
worker.postMessage('blue chair');

if (serviceWorker) navigator.serviceWorker.register('/sw.js');
