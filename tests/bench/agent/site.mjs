// SPDX-License-Identifier: Apache-2.0
/** The page that agents are measured on, and the server that all of them send to. */
import { once } from 'node:events';
import http from 'node:http';

/** Work in short tasks, the same number of steps on each page load, in functions of some depth. */
const page = `<!doctype html><link rel="icon" href="data:,"><title>shop</title>AGENT
  <h1>Shop</h1><main></main><script>
  ${Array.from({ length: 200 }, (_, i) => `function f${i}(n) { return n ? f${(i * 7 + 3) % 200}(n - 1) + 1 : ${i}; }`).join('\n')}
  let turn = 0;
  function work() {
    for (let i = 0; i < 1500; i++) globalThis['f' + (turn + i) % 200](20);
    if (turn % 20 === 0) performance.mark('turn ' + turn % 5);
    if (turn++ < 60) document.querySelector('main').append(document.createElement('p'));
  }
  for (let i = 0; i < 20; i++) work();
  setInterval(work, 40);
  let longTasks = 0;
  new PerformanceObserver((list) => { longTasks += list.getEntries().length; }).observe({ type: 'longtask', buffered: true });
</script>`;

/** An application of 5 MB: its functions exist, and one in ten has run, so that the browser has compiled it. */
const large = () => Array.from({ length: 40_000 }, (_, i) => `function large${i}(n) { /* ${'x'.repeat(70)} */ return n + ${i}; }${i % 10 ? '' : `large${i}(1);`}`).join('\n');

/**
 * @param {object} given
 * @param {() => string} given.agent the agent's script; empty for none
 * @param {() => boolean} given.isSampled what the server decides
 * @param {string} [given.attributes] of its tag
 * @param {() => boolean} [given.isLarge] whether the page has an application of 5 MB, after the agent
 * @param {(length: number) => void} [given.onUpload] gets the bytes of each upload
 */
export async function startSite({ agent, isSampled, attributes = '', isLarge = () => false, onUpload = () => {} }) {
  const server = http.createServer(async (request, response) => {
    if (request.method === 'POST' || request.url?.startsWith('/sink')) {
      let length = (request.url ?? '').length;
      for await (const chunk of request) length += chunk.length;
      onUpload(length);
      response.writeHead(request.url?.includes('/v1/') ? 204 : 200).end();
    } else if (request.url === '/agent.js') {
      response.setHeader('Content-Type', 'text/javascript');
      response.end(agent());
    } else if (request.url === '/large.js') {
      response.setHeader('Content-Type', 'text/javascript');
      response.end(large());
    } else {
      const nonce = String(Math.random()).slice(2).padEnd(16, 'x').slice(0, 16);
      response.setHeader('Content-Type', 'text/html');
      response.setHeader('Document-Policy', isSampled() ? 'js-profiling' : 'js-profiling=?0');
      response.setHeader('Server-Timing', `fleetprof;desc="${isSampled() ? `1.${Math.floor(Date.now() / 1000)}.${nonce}` : '0'}"`);
      const tag = agent() && `<script src="/agent.js" data-endpoint="/v1/ingest/pk_bench" ${attributes}></script>`;
      response.end(request.url === '/next' ? 'next' : page.replace('AGENT', `${tag}${isLarge() ? '<script src="/large.js"></script>' : ''}`));
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${port}/`, close: () => server.close() };
}
