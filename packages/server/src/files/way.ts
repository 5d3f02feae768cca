import { lstatSync, readlinkSync } from 'node:fs'

export type Way = {
  /** Where the path leads; names that are not there are taken for folders. */
  readonly real: string
  /** Real paths of the folders in which the links lie that lead there. */
  readonly links: readonly string[]
}

/** As many as Linux follows. */
const linksMax = 40

const targetOf = (path: string): string | null => {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : null
  } catch {
    // A name that cannot be looked at cannot be opened either, and that says why.
    return null
  }
}

/** Follows a path link by link: an absolute one from the top, or one from a real folder. */
export const wayOf = (path: string, from = '/'): Way => {
  const links: string[] = []
  const rest = path.split('/')
  let at = from.split('/').filter((name) => name !== '')
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    if (name === '' || name === '.') continue
    if (name === '..') {
      at.pop()
      continue
    }
    // After as many links as that nothing is followed, and opening it fails.
    const target = links.length < linksMax ? targetOf(`/${[...at, name].join('/')}`) : null
    if (target === null) {
      at.push(name)
      continue
    }
    links.push(`/${at.join('/')}`)
    if (target.startsWith('/')) at = []
    rest.unshift(...target.split('/'))
  }
  return { real: `/${at.join('/')}`, links }
}
