// SPDX-License-Identifier: Apache-2.0
import type { Options } from '@fleetprof/express/build';
import type { PluginOption } from 'vite';

export type { Options };

/** Returns the plugin: `plugins: [fleetprof({ site: 'shop', endpoint: '/v1/ingest/pk_shop' })]`. */
export default function fleetprof(options: Options): PluginOption;
