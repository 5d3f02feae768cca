import type { ReactNode } from 'react'
import { Icon } from './icon.tsx'

/** An address that somebody else named: only a page of the web is opened, in a tab that knows nothing of this one. */
export const OutsideLink = ({
  address,
  children,
}: {
  readonly address: string
  readonly children: ReactNode
}) =>
  /^https?:\/\//i.test(address) ? (
    <a
      href={address}
      target="_blank"
      rel="noopener noreferrer"
      className="inline-flex min-h-11 min-w-0 items-center gap-1.5 font-medium underline [overflow-wrap:anywhere] sm:min-h-9"
    >
      <Icon name="link" size={16} />
      <span className="min-w-0">{children}</span>
    </a>
  ) : null

/** The host of an address, as the network is asked for it: letters that look alike are told apart there. */
export const hostIn = (address: string): string => {
  try {
    return new URL(address).host
  } catch {
    return ''
  }
}
