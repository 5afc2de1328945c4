// SPDX-License-Identifier: Apache-2.0
/**
 * Debian's Firefox, driven by Marionette, its own protocol: JSON with its length before it, over TCP. FLEETPROF_FIREFOX names
 * another Firefox.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';

import { freePort, startProcess, temporaryDir, waitFor } from '../behaviour/stack.mjs';

const program = process.env.FLEETPROF_FIREFOX ?? 'firefox-esr';

/** Why there is no Firefox here; false if there is. */
export const firefoxMissing = spawnSync(program, ['--version']).status !== 0 && `${program} is not installed`;

/** @param {number} port @returns {Promise<net.Socket>} */
const connected = (port) => new Promise((resolve, reject) => {
  const socket = net.connect(port, '127.0.0.1', () => resolve(socket));
  socket.once('error', reject);
});

/** Sends commands one after the other. */
class Marionette {
  /** @param {net.Socket} socket */
  constructor(socket) {
    this.socket = socket;
    this.sent = 0;
    let received = Buffer.alloc(0);
    /** @type {((message: any) => void)[]} */
    this.waiting = [];
    socket.on('data', (piece) => {
      received = Buffer.concat([received, piece]);
      for (;;) {
        const colon = received.indexOf(':');
        const length = Number(received.subarray(0, colon));
        if (colon < 0 || received.length < colon + 1 + length) break;
        this.waiting.shift()?.(JSON.parse(received.subarray(colon + 1, colon + 1 + length).toString()));
        received = received.subarray(colon + 1 + length);
      }
    });
  }

  /** @returns {Promise<any>} the next message */
  next() {
    return new Promise((resolve) => { this.waiting.push(resolve); });
  }

  /** @param {string} name @param {object} [parameters] @returns {Promise<any>} */
  async send(name, parameters = {}) {
    this.sent += 1;
    const text = JSON.stringify([0, this.sent, name, parameters]);
    const reply = this.next();
    this.socket.write(`${Buffer.byteLength(text)}:${text}`);
    const [, , error, result] = await reply;
    if (error) throw new Error(`${name}: ${error.error}: ${error.message}`);
    return result;
  }
}

/** Starts Firefox without a window and with an empty profile. */
export async function launchFirefox() {
  const profile = temporaryDir('firefox');
  const port = await freePort();
  fs.writeFileSync(path.join(profile, 'user.js'), `user_pref("marionette.port", ${port});\nuser_pref("app.update.enabled", false);\nuser_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);\nuser_pref("network.captive-portal-service.enabled", false);\nuser_pref("network.connectivity-service.enabled", false);\n`);
  const server = startProcess('firefox', [program, '--headless', '--no-remote', '--marionette', '-remote-allow-system-access', '--profile', profile], { env: { HOME: profile } });
  const socket = await waitFor(() => connected(port).catch(() => null), { what: 'Firefox', timeoutMs: 120_000 });
  const client = new Marionette(socket);
  await client.next(); // it greets
  await client.send('WebDriver:NewSession', { capabilities: { alwaysMatch: { pageLoadStrategy: 'normal' } } });
  /** @param {'chrome' | 'content'} context @param {string} script body of a function */
  const run = async (context, script) => {
    await client.send('Marionette:SetContext', { value: context });
    const { value } = await client.send('WebDriver:ExecuteScript', { script, args: [], sandbox: 'default' });
    return value;
  };
  return {
    /** @param {string} url */
    open: async (url) => {
      await client.send('Marionette:SetContext', { value: 'content' });
      await client.send('WebDriver:Navigate', { url });
    },
    /** @param {string} script body of a function in the page @returns {Promise<any>} */
    inPage: (script) => run('content', script),
    /** Returns warnings and errors about a page since the last call. @param {string} origin of the page @returns {Promise<string[]>} */
    complaints: (origin) => run('chrome', `const found = Services.console.getMessageArray().filter((each) => each instanceof Ci.nsIScriptError
      && each.sourceName.startsWith(${JSON.stringify(origin)})).map((each) => each.errorMessage);
      const storage = Cc['@mozilla.org/consoleAPI-storage;1'].getService(Ci.nsIConsoleAPIStorage);
      for (const { level, filename, arguments: said } of storage.getEvents()) if (['warn', 'error'].includes(level) && filename.startsWith(${JSON.stringify(origin)})) found.push(said.join(' '));
      Services.console.reset(); storage.clearEvents(); return found;`),
    /** @param {string} file */
    picture: async (file) => {
      await client.send('Marionette:SetContext', { value: 'content' });
      fs.writeFileSync(file, Buffer.from((await client.send('WebDriver:TakeScreenshot', { full: false })).value, 'base64'));
    },
    close: async () => {
      socket.destroy();
      await server.stop();
    },
  };
}
