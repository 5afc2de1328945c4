// SPDX-License-Identifier: Apache-2.0
// The peer: what a team would write first. Fastify takes the body, inflates it and inserts it into a
// jsonb column; 204 when the insert has committed.
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

import Fastify from 'fastify';
import pg from 'pg';

const [port, socketDir] = process.argv.slice(2);
const inflate = promisify(gunzip);
const pool = new pg.Pool({ host: socketDir, user: 'postgres', database: 'fleetprof', max: 16 });

const server = Fastify({ bodyLimit: 8 << 20 });
server.removeAllContentTypeParsers();
server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
server.post('/v1/ingest/:key', async (request, reply) => {
  const json = await inflate(/** @type {Buffer} */ (request.body));
  await pool.query({ name: 'insert', text: 'insert into trace (body) values ($1)', values: [json.toString()] });
  return reply.code(204).send();
});
await server.listen({ host: '127.0.0.1', port: Number(port) });
