-- wrk: posts one file again and again, and prints what was answered as a line of JSON.
local file = assert(io.open(os.getenv("BENCH_BODY"), "rb"))
wrk.method = "POST"
wrk.body = file:read("*a")
wrk.headers["Content-Type"] = "text/plain"
file:close()

done = function(summary, latency)
  print(string.format('{"requests":%d,"errors":%d,"duration_us":%d,"p50_us":%d,"p99_us":%d}',
    summary.requests,
    summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout,
    summary.duration, latency:percentile(50), latency:percentile(99)))
end
