// SPDX-License-Identifier: Apache-2.0
/** A certificate that Chromium trusts for one run: by the hash of its key, so that service workers also work. */
import crypto from 'node:crypto';
import fs from 'node:fs';

import { runOrThrow, temporaryDir } from '../behaviour/stack.mjs';

/**
 * Makes a self-signed certificate for all hosts of the shop.
 * @returns {Promise<{ certificate: string, key: string, flags: string[] }>} two files, and Chromium's flags
 */
export async function makeCertificate() {
  const dir = temporaryDir('tls');
  const [certificate, key] = [`${dir}/certificate.pem`, `${dir}/key.pem`];
  const names = ['nginx', 'httpd'].map((server) => `DNS:*.${server}.shop.example`).join();
  await runOrThrow(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes',
    '-days', '7', '-subj', '/CN=shop.example', '-addext', `subjectAltName=${names}`, '-keyout', key, '-out', certificate]);
  const publicKey = new crypto.X509Certificate(fs.readFileSync(certificate)).publicKey;
  const hash = crypto.createHash('sha256').update(publicKey.export({ type: 'spki', format: 'der' })).digest('base64');
  return {
    certificate, key,
    flags: [`--ignore-certificate-errors-spki-list=${hash}`, '--host-resolver-rules=MAP *.shop.example 127.0.0.1'],
  };
}
