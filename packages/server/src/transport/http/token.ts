export type PresentedToken =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'none'; readonly detail: string }

const agentToken = /^[0-9a-f]{64}$/

const missing: PresentedToken = {
  kind: 'none',
  detail: 'send the agent token as "Authorization: Bearer <token>"',
}
const wrong: PresentedToken = { kind: 'none', detail: 'the agent token is not valid' }
const reserved: PresentedToken = {
  kind: 'none',
  detail:
    'the form gatehouse_agent_… is reserved and not in use yet; an agent token is 64 hexadecimal characters',
}
const userToken: PresentedToken = {
  kind: 'none',
  detail: 'this is a user token; agents have tokens of their own',
}

/** Sorts out what cannot be an agent token before anything is looked up. */
export const presentedToken = (token: string): PresentedToken => {
  if (agentToken.test(token)) return { kind: 'token', token }
  if (token.startsWith('gatehouse_agent_')) return reserved
  if (token.startsWith('gatehouse_user_')) return userToken
  return token === '' ? missing : wrong
}

/** The token of an Authorization header. */
export const bearerToken = (header: string | undefined): PresentedToken => {
  if (header === undefined) return missing
  if (header.length < 7 || header.slice(0, 7).toLowerCase() !== 'bearer ') return missing
  return presentedToken(header.slice(7))
}

export type AddressWithToken = {
  readonly path: string
  readonly token: string | null
  /** Whether the address names it more than once. */
  readonly twice: boolean
}

/**
 * Takes `token` out of an address. Whoever has the rest may log it.
 *
 * @SECURITY A token that stays in the address ends in logs and error messages; websocket.test.ts.
 */
export const splitToken = (url: string): AddressWithToken => {
  const mark = url.indexOf('?')
  if (mark === -1) return { path: url, token: null, twice: false }
  const found = new URLSearchParams(url.slice(mark + 1)).getAll('token')
  return { path: url.slice(0, mark), token: found[0] ?? null, twice: found.length > 1 }
}
