/** Where files of a host are fetched instead: `huggingface.co` → `https://mirror.example/hf`. */
export type Mirrors = ReadonlyMap<string, string>

const hostForm =
  /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*(?::\d{1,5})?$/

/** Reads `host=https://mirror/path`; says what is wrong with one that cannot be read. */
export function parseMirrors(
  lines: readonly string[],
): { readonly mirrors: Mirrors } | { readonly fault: string } {
  const mirrors = new Map<string, string>()
  for (const line of lines) {
    const at = line.indexOf('=')
    const host = line.slice(0, Math.max(0, at)).trim().toLowerCase()
    if (!hostForm.test(host))
      return { fault: `${JSON.stringify(line)} must be host=https://mirror.example/path` }
    let url: URL
    try {
      url = new URL(line.slice(at + 1).trim())
    } catch {
      return { fault: `${JSON.stringify(line)} names no address after the "="` }
    }
    if (url.protocol !== 'https:')
      return { fault: `the mirror of ${host} must begin with https://` }
    if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
      return { fault: `the mirror of ${host} must hold no password, query or fragment` }
    if (mirrors.has(host)) return { fault: `${host} has two mirrors` }
    mirrors.set(host, url.href.replace(/\/$/, ''))
  }
  return { mirrors }
}

/** The address to fetch from. The pinned hash makes any mirror as good as the origin. */
export const mirrored = (address: string, mirrors: Mirrors): string => {
  const url = new URL(address)
  const base = mirrors.get(url.host)
  return base === undefined ? address : `${base}${url.pathname}${url.search}`
}
