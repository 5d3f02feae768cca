import { visibleText } from './visible-text.ts'

/**
 * Identity of a server over https by its certificate: the part that stays when that is renewed. The names of hosts are left
 * out: each connection is checked for the one that was asked for.
 */
export type CertificateIdentity = {
  /** Organisation that the certificate names as its owner; null for one that was given for the host alone. */
  readonly organisation: string | null
  /** Name of the authority at the root. */
  readonly authority: string
  /** SHA-256 of that authority's public key (SPKI), in hex. */
  readonly authority_key: string
}

const nameMax = 200

/** As it may be shown and kept: whoever wrote it into a certificate is not known here. */
export const certificateIdentity = (read: {
  readonly organisation: string | null
  readonly authority: string
  readonly authority_key: string
}): CertificateIdentity => ({
  organisation: read.organisation && visibleText(read.organisation, nameMax),
  authority: visibleText(read.authority, nameMax),
  authority_key: read.authority_key,
})

/** Whether they are one and the same owner under one and the same authority, which may go by another name. */
export const isSameCertificate = (a: CertificateIdentity, b: CertificateIdentity): boolean =>
  a.organisation === b.organisation && a.authority_key === b.authority_key

export const certificateText = ({
  organisation,
  authority,
  authority_key,
}: CertificateIdentity): string =>
  `${organisation === null ? '' : `of ${organisation}, `}under ${authority} (key ${authority_key.slice(0, 16)})`
