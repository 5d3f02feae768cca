import { GatehouseError } from '@gatehouse/contract'
import { parseHost, unbracket } from '../domain/web-address.ts'

/** `host:port` or `*.example.org:443`; the star stands for one name or more in front, never for a part of one. */
type Pattern = { readonly host: string; readonly below: boolean; readonly port: number }

const parse = (text: string): Pattern => {
  const match = /^(\*\.)?(\[[^\]]+\]|[^:*]+):(\d{1,5})$/.exec(text.trim())
  const port = Number(match?.[3])
  if (!match?.[2] || port < 1 || port > 65_535)
    throw new GatehouseError('UrlNotAllowed', {
      detail: `${text} must be a host and a port, such as example.org:443 or *.example.org:443`,
    })
  return { host: parseHost(unbracket(match[2])), below: match[1] !== undefined, port }
}

export const createHostPatterns = (
  texts: readonly string[],
): ((host: string, port: number) => boolean) => {
  const patterns = texts.map(parse)
  return (host, port) =>
    patterns.some(
      (pattern) =>
        pattern.port === port &&
        (pattern.below ? host.endsWith(`.${pattern.host}`) : host === pattern.host),
    )
}
