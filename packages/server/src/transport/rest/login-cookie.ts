const name = 'gatehouse_session'
const flags = 'Path=/; HttpOnly; Secure; SameSite=Strict'

/** @SECURITY No script reads it, no other site sends it, no plain connection carries it; web/dashboard.test.ts. */
export const loginCookie = (id: string, maxAgeSeconds: number): string =>
  `${name}=${id}; Max-Age=${maxAgeSeconds}; ${flags}`

export const endedCookie = `${name}=; Max-Age=0; ${flags}`

/**
 * The id in a Cookie header, or null. Two of that name count as none: another local server may have set
 * one of them, and nothing says which.
 */
export function loginIdOf(cookieHeader: string | null): string | null {
  const found = (cookieHeader ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
  return found.length === 1 && found[0] !== '' ? (found[0] ?? null) : null
}
