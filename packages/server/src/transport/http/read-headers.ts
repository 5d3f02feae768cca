/** The headers that decide about a request before anything else of it is read. */
export type FrontHeaders = {
  readonly host: string | undefined
  readonly origin: string | undefined
  readonly authorization: string | undefined
  readonly contentType: string | undefined
  /** 0 where none is declared. */
  readonly contentLength: number
  readonly contentEncoding: string | undefined
  readonly session: string | undefined
  /** The two that decide nothing about who calls: the first of them, where there are several. */
  readonly upgrade: string | undefined
  readonly traceparent: string | undefined
  /** All of them as one list, in their order. */
  readonly forwardedFor: string | undefined
}

export type HeaderFault = 'duplicate_header' | 'too_many_headers'

/** Headers that we read, by their lowercase names; each but the last three may stand once. */
const names = [
  'host',
  'origin',
  'authorization',
  'content-type',
  'content-length',
  'content-encoding',
  'gatehouse-session',
  'upgrade',
  'traceparent',
  'x-forwarded-for',
] as const
const forwardedFor = names.indexOf('x-forwarded-for')
const onceMax = names.indexOf('gatehouse-session')
const places: ReadonlyMap<string, number> = new Map(names.map((name, place) => [name, place]))

/**
 * Reads them off the raw list, because Node keeps the first of two equal headers and drops the rest
 * silently, so that we and a proxy before us could each believe another one.
 *
 * @SECURITY A second Host, Origin, Authorization, Content-Type or Content-Length is refused; open-gateway.test.ts.
 */
export const readHeaders = (
  raw: readonly string[],
  headersMax: number,
): FrontHeaders | HeaderFault => {
  if (raw.length > headersMax * 2) return 'too_many_headers'
  const found: (string | undefined)[] = [undefined, undefined, undefined, undefined]
  for (let i = 0; i < raw.length; i += 2) {
    const place = places.get((raw[i] ?? '').toLowerCase())
    if (place === undefined) continue
    if (found[place] === undefined) found[place] = raw[i + 1] ?? ''
    else if (place <= onceMax) return 'duplicate_header'
    else if (place === forwardedFor) found[place] += `, ${raw[i + 1] ?? ''}`
  }
  return {
    host: found[0],
    origin: found[1],
    authorization: found[2],
    contentType: found[3],
    contentLength: Number(found[4] ?? 0),
    contentEncoding: found[5],
    session: found[6],
    upgrade: found[7],
    traceparent: found[8],
    forwardedFor: found[forwardedFor],
  }
}
