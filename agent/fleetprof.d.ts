// SPDX-License-Identifier: Apache-2.0
/** The page's interface of fleetprof's agent, the same in each build. */

/** Numbers may be given as text, as data attributes are. */
export interface Options {
  /** The collector's ingest URL, with the site's key: `/v1/ingest/pk_shop`. */
  endpoint: string;
  release?: string;
  environment?: string;
  /** One dimension of few values, such as an experiment's arm. */
  variant?: string;
  /** Values of the site's custom dimensions: `plan=pro; country=de`. */
  custom?: string;
  /** The page's template, `/product/:id`; without it the collector derives one from the URL. */
  route?: string;
  /** The page's router keeps the path behind `#`: that path becomes the page's, `/#/product/7` is `/product/7`. */
  hashRoutes?: boolean | string;
  /** Milliseconds between samples to ask for; 10. */
  sampleInterval?: number | string;
  /** Milliseconds after which a part is sent; 10,000. The first parts are shorter on a page that a service worker controls. */
  partLength?: number | string;
  /** Milliseconds of a page load that are profiled, without the time in which it is hidden; 60,000. */
  maxDuration?: number | string;
  /** Samples of a page load after which profiling ends; 10,000. */
  maxBufferSize?: number | string;
  /** Milliseconds from the load event to the end of profiling; without it only the other limits count. */
  afterLoad?: number | string;
  /**
   * `try`: profile also where no decision of fleetprof's modules is seen, because another server sets the
   * Document-Policy; a page load without that policy then gets the browser's error on its console.
   */
  policy?: 'try' | (string & {});
  /** `false`: does not profile, and reports sampled page loads as `disabled`; vitals are sent all the same. */
  profile?: boolean | string;
  /** `all`: also reports page loads that were not picked; `off`: reports only page loads with a profile. */
  coverage?: 'all' | 'off' | (string & {});
  /** Vitals build: the share of page loads that send vitals, from 0 to 1; 1. No `%`. */
  vitalsSample?: number | string;
  /** Sees each envelope before it is sent, and returns what to send; nothing: it is dropped. No promise. */
  beforeSend?: (envelope: Record<string, unknown>) => Record<string, unknown> | null | undefined | false;
  /** Says on the console what happens and why not; `data-debug` alone is enough. */
  debug?: boolean | string;
  /** Worker build: the page's `handle.load`, so that the worker belongs to that page load. */
  load?: string;
  /** Worker build: the page's URL. */
  url?: string;
}

/** The state of this page load. The first eight are final and mean that nothing is profiled. */
export type Status = 'disabled' | 'unsupported' | 'no-endpoint' | 'no-decision' | 'not-sampled' | 'stale' | 'forbidden' | 'quota'
  | 'prerendering' | 'profiling' | 'sending' | 'sent' | 'failed';

export interface Handle {
  /** Changes as things happen. */
  status: Status;
  /** The same for people: the latest line that `debug` writes. */
  detail: string;
  /** Id of this page load in all that is sent; empty if nothing is sent, and before a prerendered page is seen. */
  load: string;
  /**
   * Ends profiling now and sends what is left. True when all parts were accepted, or taken over by the browser from a
   * hidden page. Never rejects; every call gives the same answer.
   */
  stop(): Promise<boolean>;
  /** Says which route the page shows now; after `pushState`, not before. */
  setRoute(route: string): void;
  /** Says which release the page runs from now on. */
  setRelease(release: string): void;
}

export interface Fleetprof {
  version: string;
  /** Starts once per page, even without an endpoint; later calls give the first handle. */
  start(options?: Options): Handle;
}

export const version: string;
export const start: Fleetprof['start'];
