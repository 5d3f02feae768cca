/** Where files of a host are fetched instead: `huggingface.co` → `https://mirror.example/hf`. */
export type Mirrors = ReadonlyMap<string, string>

/** The address to fetch from. The pinned hash makes any mirror as good as the origin. */
export const mirrored = (address: string, mirrors: Mirrors): string => {
  const url = new URL(address)
  const base = mirrors.get(url.host)
  return base === undefined ? address : `${base}${url.pathname}${url.search}`
}
