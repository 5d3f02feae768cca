import { GatehouseError } from '@gatehouse/contract'

/** A setting as `git config --list -z` writes it; no value means true. Text is latin1: one character a byte. */
export type Setting = { readonly key: string; readonly value: string | null }

/** Keys that a repository may set by itself: none of these names a program or a place outside. */
const harmless = [
  /^core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|autocrlf|symlinks|precomposeunicode)$/,
  /^user\.[a-z0-9-]+$/,
  /^remote\..+\.(url|fetch)$/s,
  /^branch\..+\.(remote|merge)$/s,
  /^init\.defaultbranch$/,
]

/** `*` stands for anything but a dot; letters are compared without case. */
const patternOf = (allowed: string): RegExp =>
  new RegExp(`^${allowed.split('*').map(escape).join('[^.]*')}$`, 'i')

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

export const parseSettings = (listing: Uint8Array): readonly Setting[] =>
  Buffer.from(listing)
    .toString('latin1')
    .split('\0')
    .filter((entry) => entry !== '')
    .map((entry) => {
      const end = entry.indexOf('\n')
      // A subsection holds no line break, so the first one ends the key.
      return end < 0
        ? { key: entry, value: null }
        : { key: entry.slice(0, end), value: entry.slice(end + 1) }
    })

/** Decides whether a key is harmless, or allowed by the operator. */
export const configGuard = (allowed: readonly string[]): ((key: string) => boolean) => {
  const patterns = [...harmless, ...allowed.map(patternOf)]
  return (key) => patterns.some((pattern) => pattern.test(key))
}

const quotedValue = (value: string): string =>
  `"${value
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll('\t', '\\t')
    .replaceAll('\b', '\\b')}"`

const sectionOf = (key: string): { readonly header: string; readonly name: string } => {
  const first = key.indexOf('.')
  const last = key.lastIndexOf('.')
  const section = key.slice(0, first)
  const name = key.slice(last + 1)
  if (first === last) return { header: `[${section}]`, name }
  const sub = key
    .slice(first + 1, last)
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
  return { header: `[${section} "${sub}"]`, name }
}

/**
 * The configuration that git is really given: the checked settings, written anew. Whoever changes the
 * repository's own file after the check changes nothing.
 * @SECURITY checked = used; git-config.test.ts swaps the file meanwhile.
 */
export const renderConfig = (settings: readonly Setting[]): Uint8Array => {
  const lines = settings
    .filter(({ key }) => key !== 'core.bare')
    .flatMap(({ key, value }) => {
      const { header, name } = sectionOf(key)
      return [header, value === null ? `\t${name}` : `\t${name} = ${quotedValue(value)}`]
    })
  return Buffer.from([...lines, '[core]', '\tbare = false', ''].join('\n'), 'latin1')
}

/** Raises `UnsafeRepoConfig` for the first key that is neither harmless nor allowed. */
export const assertHarmless = (
  path: string,
  settings: readonly Setting[],
  isAllowed: (key: string) => boolean,
): void => {
  const bad = settings.find(({ key }) => !isAllowed(key))
  if (!bad) return
  const key = Buffer.from(bad.key, 'latin1').toString('utf8').slice(0, 200)
  throw new GatehouseError('UnsafeRepoConfig', { path, key })
}

export const lastValue = (settings: readonly Setting[], key: string): string | null => {
  const found = settings.findLast((setting) => setting.key === key)?.value
  return found === undefined || found === null
    ? null
    : Buffer.from(found, 'latin1').toString('utf8')
}
