import { type Certificate, GatehouseError } from '@gatehouse/contract'
import type { Listeners } from './listeners.ts'

export type CertificateDeps = { readonly listeners: Pick<Listeners, 'certificate'> }

export function showCertificate({ listeners }: CertificateDeps): Certificate {
  const certificate = listeners.certificate()
  if (!certificate)
    throw new GatehouseError('Conflict', { detail: 'Only a server that runs has a certificate.' })
  return certificate
}
