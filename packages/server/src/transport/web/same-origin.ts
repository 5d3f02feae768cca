import { GatehouseError } from '@gatehouse/contract'

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Headers that a browser sends about the page that asks. Cookies and SameSite know no ports, so a page of another
 * server on this machine could use a login; the exact Origin is what stops it.
 * @SECURITY A request that changes something comes from the exact Origin; rest/session.test.ts.
 */
export function assertSameOrigin(request: Request, hasLogin: boolean): void {
  const { headers, method } = request
  // A foreign one has been refused by the host guard already, with or without a login.
  const origin = headers.get('origin')
  const site = headers.get('sec-fetch-site')
  if (safeMethods.has(method)) {
    // Reading with a login is for this page, and for the person who types the address.
    if (hasLogin && site !== null && site !== 'same-origin' && site !== 'none') throw foreign(site)
    return
  }
  if (site !== null && site !== 'same-origin') throw foreign(site)
  if (hasLogin && origin === null) throw foreign('none given')
}

const foreign = (origin: string) => new GatehouseError('OriginNotAllowed', { origin })
