/** Times of a query in milliseconds, with the rest of it. */
export const withPeriod = <Query extends { readonly since?: string; readonly until?: string }>({
  since,
  until,
  ...rest
}: Query) => ({
  ...rest,
  ...(since === undefined ? {} : { since_ms: Date.parse(since) }),
  ...(until === undefined ? {} : { until_ms: Date.parse(until) }),
})
