// SPDX-License-Identifier: Apache-2.0
/** The rows of schema/filters. Made by report/build.mjs. @type {{ name: string, of: string, help: string }[]} */
export const rows = [
  { name: 'route', of: 'loads', help: 'page routes, such as /product/:id' },
  { name: 'release', of: 'sides', help: 'releases of the site, as the page says' },
  { name: 'environment', of: 'loads', help: 'environments, as the page says, such as production' },
  { name: 'variant', of: 'loads', help: 'arms of experiments: the web server\'s (chat=off%), then what the page says' },
  { name: 'browser', of: 'loads', help: 'browser families: Chrome, Edge, …' },
  { name: 'os', of: 'loads', help: 'operating systems: Windows, macOS, Linux, Android, iOS, …' },
  { name: 'device', of: 'loads', help: 'device classes: desktop, mobile, tablet, bot' },
  { name: 'thread', of: 'loads', help: 'threads: window or worker' },
  { name: 'marker', of: 'samples', help: 'what the main thread did: script, gc, style, layout, paint, other; (none), or an empty text: samples without a marker' },
  { name: 'frame', of: 'loads', help: 'pages in frames: top, same-origin or cross-origin; % is all of them' },
  { name: 'traffic', of: 'loads', help: 'kinds of traffic: repeated page loads of one client; an empty text: all others' },
  { name: 'machine', of: 'loads', help: 'machine classes: low, mid or high; an empty text: unknown' },
  { name: 'navigation', of: 'vitals', help: 'kinds of navigation: hard, soft, back-forward, back-forward-cache, prerender, reload or restore; an empty text: unknown. soft is selected only alone' },
  { name: 'browser_version', of: 'loads', help: 'major versions of browsers, such as 156; an empty text: unknown' },
  { name: 'network', of: 'loads', help: 'network classes: 4g, 3g, 2g or save-data; an empty text: unknown' },
  { name: 'custom', of: 'loads', help: 'custom dimensions, such as plan=pro or plan=pro; country=de; an empty text: none' },
  { name: 'drawn', of: 'loads', help: 'the server\'s draw: yes to be profiled, no; an empty text: unknown, or a page out of a cache' },
];
