/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Browser URL: writes the URL of a script as browsers do.
 *
 * One thread.
 */
#ifndef FP_CLI_FEED_BROWSER_URL_H
#define FP_CLI_FEED_BROWSER_URL_H

/*
 * Returns the URL with a lower-case scheme and host, without a default port, and with what browsers
 * percent-encode in a path encoded: blanks, quotes, <, >, {, }, ` and what is not ASCII (WHATWG
 * URL), and the characters of `also`. The caller frees it. Host names that are not ASCII stay as
 * they are.
 */
char *fp_browser_url(const char *url, const char *also);

#endif
