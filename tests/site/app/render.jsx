// SPDX-License-Identifier: Apache-2.0
/** The server's half: a whole document as text. */
import React from 'react';
import { renderToString } from 'react-dom/server';
import { Page } from './pages.jsx';

/**
 * Renders a document. `state` goes to the browser as JSON, which no Content-Security-Policy forbids;
 * `agent` has the attributes of the agent's tag, null for a page without it.
 */
export function render({ path, assets, agent, hangs, witness, state }) {
  const data = JSON.stringify({ ...state, path, worker: assets.worker }).replace(/</g, '\\u003c');
  return `<!doctype html>${renderToString(
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <title>Shop</title>
        <link rel="icon" href="data:," />
        {agent && <script src={assets.agent} {...agent} />}
        {witness && <script src="/witness.js" />}
        <link rel="stylesheet" href={assets.style} />
        <script id="state" type="application/json" dangerouslySetInnerHTML={{ __html: data }} />
        <script src={assets.client} defer />
      </head>
      <body>
        <div id="root"><Page path={path} /></div>
        {hangs && <img src="/never.gif" alt="" />}
      </body>
    </html>,
  )}`;
}
