/** The headers that decide about a request before anything else of it is read. */
export type FrontHeaders = {
  host: string | undefined
  origin: string | undefined
  authorization: string | undefined
  contentType: string | undefined
  contentLength: number
  hasBody: boolean
  contentEncoding: string | undefined
  session: string | undefined
}

export type HeaderFault = 'duplicate_header' | 'too_many_headers'

/**
 * Reads them off the raw list, because Node keeps the first of two equal headers and drops the rest
 * silently, so that we and a proxy before us could each believe another one.
 *
 * @SECURITY a second Host, Origin, Authorization, Content-Type or Content-Length is refused; H01, T03.
 */
export const readHeaders = (
  raw: readonly string[],
  headersMax: number,
): FrontHeaders | HeaderFault => {
  if (raw.length > headersMax * 2) return 'too_many_headers'
  const read: FrontHeaders = {
    host: undefined,
    origin: undefined,
    authorization: undefined,
    contentType: undefined,
    contentLength: 0,
    hasBody: false,
    contentEncoding: undefined,
    session: undefined,
  }
  let lengthSeen = false
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] ?? ''
    const value = raw[i + 1] ?? ''
    // The length tells most headers apart, so few names are lowercased at all.
    switch (name.length) {
      case 4:
        if (name.toLowerCase() !== 'host') break
        if (read.host !== undefined) return 'duplicate_header'
        read.host = value
        break
      case 6:
        if (name.toLowerCase() !== 'origin') break
        if (read.origin !== undefined) return 'duplicate_header'
        read.origin = value
        break
      case 12:
        if (name.toLowerCase() !== 'content-type') break
        if (read.contentType !== undefined) return 'duplicate_header'
        read.contentType = value
        break
      case 13:
        if (name.toLowerCase() !== 'authorization') break
        if (read.authorization !== undefined) return 'duplicate_header'
        read.authorization = value
        break
      case 14:
        if (name.toLowerCase() !== 'content-length') break
        if (lengthSeen) return 'duplicate_header'
        lengthSeen = true
        read.contentLength = Number(value)
        if (read.contentLength > 0) read.hasBody = true
        break
      case 16:
        if (name.toLowerCase() === 'content-encoding') read.contentEncoding = value
        break
      case 17:
        switch (name.toLowerCase()) {
          case 'transfer-encoding':
            read.hasBody = true
            break
          case 'gatehouse-session':
            if (read.session !== undefined) return 'duplicate_header'
            read.session = value
            break
          default:
        }
        break
      default:
    }
  }
  return read
}
