const secretWord =
  /(?:token|secret|passw|passphrase|credential|api[-_]?key|access[-_]?key|private[-_]?key|auth|bearer|cookie|session|dsn|webhook|(?:^|[-_])(?:key|pat|pass|pwd)(?:$|[-_]))/i

/** How tokens of well-known services begin. */
const knownPrefix =
  /^(?:sk-|sk_live_|sk_test_|rk_live_|pk_live_|gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|xapp-|AKIA|ASIA|AIza|ya29\.|eyJ[\w-]+\.|npm_|pypi-|hf_|dop_v1_|shpat_|SG\.|ntn_|secret_|lin_api_|figd_|ATATT|tvly-|fc-|BSA|gsk_|r8_|Bearer\s|Basic\s)/

const hasPassword = (value: string): boolean =>
  /^[a-z][a-z0-9+.-]*:\/\/[^/\s@]*:[^/\s@]+@/i.test(value)

/** Whether it has the form of a secret, whatever it is called. */
export const isKnownSecret = (value: string): boolean =>
  knownPrefix.test(value) || value.includes('-----BEGIN') || hasPassword(value)

/** Bits in each character, were the value drawn from the characters that it has. */
function entropy(value: string): number {
  const counts = new Map<string, number>()
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1)
  const length = [...counts.values()].reduce((sum, count) => sum + count, 0)
  return [...counts.values()].reduce(
    (sum, count) => sum - (count / length) * Math.log2(count / length),
    0,
  )
}

const looksRandom = (value: string): boolean =>
  /^[A-Za-z0-9+=_.~-]{20,}$/.test(value) &&
  /\d/.test(value) &&
  /[A-Za-z]/.test(value) &&
  entropy(value) > 3.5

const isPlain = (value: string): boolean =>
  value === '' || /^(?:true|false|yes|no|on|off|\d{1,9})$/i.test(value)

/** Whether the value of a variable should go into the vault: by its name, or by what it looks like. */
export const isLikelySecret = (name: string, value: string): boolean =>
  !isPlain(value) && (secretWord.test(name) || isKnownSecret(value) || looksRandom(value))

/**
 * Where an argument is likely a secret. An argument is no place for one: it is shown with the server, and is in the log.
 * A word that only looks random may be the id of something, which belongs there.
 */
export const secretArguments = (args: readonly string[]): readonly number[] =>
  args.flatMap((arg, at) => {
    const [, flag, value = ''] = /^(-{1,2}[\w-]+)=(.*)$/s.exec(arg) ?? []
    const before = args[at - 1] ?? ''
    const name = flag ?? (/^-{1,2}[\w-]+$/.test(before) && !arg.startsWith('-') ? before : '')
    const given = flag === undefined ? arg : value
    const isNamed = secretWord.test(name) && !isPlain(given) && !/^[./~]/.test(given)
    const [, header = ''] = /^[\w-]+:\s*(.+)$/s.exec(given) ?? []
    return isNamed || isKnownSecret(given) || isKnownSecret(header) ? [at] : []
  })

/** Whether an address has a secret in it: a password, or a member of its query or path. */
export function hasSecret(address: string): boolean {
  const { username, password, searchParams, pathname } = new URL(address)
  return (
    username !== '' ||
    password !== '' ||
    [...searchParams].some(([name, value]) => isLikelySecret(name, value)) ||
    pathname
      .split('/')
      .some((part) => knownPrefix.test(part) || (part.length >= 32 && looksRandom(part)))
  )
}
