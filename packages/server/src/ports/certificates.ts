/** Certificate and key of a listener over TLS, as PEM. */
export type ServedCertificate = {
  readonly key: string
  readonly cert: string
  /** SHA-256 of the certificate, as browsers show it. */
  readonly fingerprint: string
}

export interface Certificates {
  current(): ServedCertificate

  /** Must call back with each certificate that takes the place of the one before. */
  onChange(listener: (next: ServedCertificate) => void): Disposable
}
