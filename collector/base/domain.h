/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Domain: the registrable domain of a host, by the Public Suffix List. Any thread.
 */
#ifndef FP_BASE_DOMAIN_H
#define FP_BASE_DOMAIN_H

#include "collector/base/base.h"

/*
 * Returns the registrable domain of a URL's host, as a slice of the URL: "shop.co.uk" of
 * "https://img.shop.co.uk/a.js". A host that has none is its own: an address, localhost, a public
 * suffix. "" for a URL without a host. Expects lower case.
 */
struct fp_str fp_domain_of_url(struct fp_str url);

#endif
