// How Angular marks the first use of a feature: @angular/core 22.2.6, fesm2022/_debug_node-chunk.mjs, unchanged between
// the lines.
// The MIT License, Copyright (c) 2010-2026 Google LLC. https://angular.dev/license
// ----
const markedFeatures = new Set();
function performanceMarkFeature(feature) {
  if (markedFeatures.has(feature)) {
    return;
  }
  markedFeatures.add(feature);
  performance?.mark?.('mark_feature_usage', {
    detail: {
      feature
    }
  });
}

// ----

export { performanceMarkFeature };
