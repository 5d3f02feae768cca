import type { DavAnswer } from './dav-client.ts'
import { DavRefusal } from './describe-dav.ts'
import { childOf, childrenOf, parseXml, type XmlElement, XmlInvalid } from './xml.ts'

/** Resource as a server tells of it. */
export type DavResource = {
  readonly href: string
  /** Of the resource itself; 200 where only properties have one. */
  readonly status: number
  /** Properties that were found, by name. */
  readonly props: ReadonlyMap<string, XmlElement>
}

export type Multistatus = {
  readonly resources: readonly DavResource[]
  readonly sync_token: string | null
}

const statusOf = (element: XmlElement | null, fallback: number): number =>
  Number(/^HTTP\/\d(?:\.\d)? (\d{3})/i.exec(element?.text.trim() ?? '')?.[1] ?? fallback)

const resourceOf = (response: XmlElement): DavResource | null => {
  const href = childOf(response, 'href')?.text.trim()
  if (href === undefined || href === '' || href.length > 4_000) return null
  const props = new Map<string, XmlElement>()
  for (const stat of childrenOf(response, 'propstat')) {
    const status = statusOf(childOf(stat, 'status'), 200)
    if (status < 200 || status > 299) continue
    for (const prop of childOf(stat, 'prop')?.children ?? []) props.set(prop.name, prop)
  }
  return { href, status: statusOf(childOf(response, 'status'), 200), props }
}

/** Raises `DavRefusal` for another answer, `XmlInvalid` for one that makes no sense. */
export const parseMultistatus = (answer: DavAnswer): Multistatus => {
  if (answer.status !== 207) throw new DavRefusal(answer)
  const root = parseXml(new TextDecoder().decode(answer.body))
  if (root.name !== 'multistatus') throw new XmlInvalid(`it is a ${root.name.slice(0, 40)}`)
  return {
    resources: childrenOf(root, 'response').flatMap((one) => resourceOf(one) ?? []),
    sync_token: childOf(root, 'sync-token')?.text.trim() ?? null,
  }
}

export const propText = ({ props }: DavResource, name: string): string =>
  props.get(name)?.text.trim() ?? ''
