import { GatehouseError } from '@gatehouse/contract'
import {
  type CertificateIdentity,
  certificateText,
  isSameCertificate,
} from '../domain/upstream/certificate.ts'

/** The certificate of one server: the one that a person accepted, or else that of its first connection here. */
export class PinnedCertificate {
  readonly #upstream: string
  readonly #accepted: CertificateIdentity | null
  #found: CertificateIdentity | null = null
  #refusal: GatehouseError | null = null
  #listener: () => void = () => {}

  constructor(upstream: string, accepted: CertificateIdentity | null) {
    this.#upstream = upstream
    this.#accepted = accepted
  }

  get found(): CertificateIdentity | null {
    return this.#found
  }

  /** Error that `check` raised; null while every connection had the same. */
  get refusal(): GatehouseError | null {
    return this.#refusal
  }

  /** Called once something was refused. */
  onRefusal(listener: () => void): void {
    this.#listener = listener
  }

  /** Raises `UpstreamCertificateChanged`, with what was found as the fact `certificate`. */
  check(found: CertificateIdentity): void {
    const wanted = this.#accepted ?? this.#found
    this.#found ??= found
    if (wanted === null || isSameCertificate(wanted, found)) return
    this.#refusal = new GatehouseError('UpstreamCertificateChanged', {
      upstream: this.#upstream,
      accepted: certificateText(wanted),
      found: certificateText(found),
      certificate: found,
    })
    // After the request that met it has failed by itself.
    setImmediate(() => this.#listener())
    throw this.#refusal
  }
}
