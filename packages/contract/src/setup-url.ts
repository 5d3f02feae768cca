const loopback = /^(?:127(?:\.\d{1,3}){3}|\[::1\]|localhost)$/

/**
 * The page for people at a dashboard. Cookies know no ports: under a name of its own, what other local
 * servers set and get stays theirs.
 */
export function dashboardPage(dashboardUrl: string): string {
  const url = new URL(dashboardUrl)
  if (loopback.test(url.hostname)) url.hostname = 'gatehouse.localhost'
  return url.href
}

/** The link that makes the first operator. What follows `#` is never sent to a server, nor logged by one. */
export const setupUrl = (dashboardUrl: string, token: string): string =>
  `${dashboardPage(dashboardUrl)}#setup=${token}`
