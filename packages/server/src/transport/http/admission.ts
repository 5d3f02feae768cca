import type { AuthenticatedAgent } from '../../app/agents/agent-directory.ts'
import type { App } from '../../app/app.ts'
import type { FrontHeaders } from './read-headers.ts'
import { readHeaders } from './read-headers.ts'
import { type Refusal, refusals, tooManyFailures, unauthenticated } from './respond.ts'
import { bearerToken, type PresentedToken } from './token.ts'
import type { TokenFailures } from './token-failures.ts'

export type Admitted = { readonly kind: 'admitted'; readonly headers: FrontHeaders }
export type Refused = { readonly kind: 'refused'; readonly refusal: Refusal }
export type Known = {
  readonly kind: 'known'
  readonly agent: AuthenticatedAgent
  readonly token: string
}

const refused = (refusal: Refusal): Refused => ({ kind: 'refused', refusal })

/** The first steps of every request and every upgrade, in their fixed order: Host, Origin, token. */
export class Admission {
  readonly #app: App
  readonly #isOurHost: (header: string) => boolean
  readonly #origins: ReadonlySet<string>
  readonly #headersMax: number
  readonly #failures: TokenFailures

  constructor(options: {
    readonly app: App
    readonly isOurHost: (header: string) => boolean
    readonly allowedOrigins: readonly string[]
    readonly headersMax: number
    readonly failures: TokenFailures
  }) {
    this.#app = options.app
    this.#isOurHost = options.isOurHost
    this.#origins = new Set(options.allowedOrigins)
    this.#headersMax = options.headersMax
    this.#failures = options.failures
  }

  admit(rawHeaders: readonly string[]): Admitted | Refused {
    const headers = readHeaders(rawHeaders, this.#headersMax)
    if (headers === 'duplicate_header') return refused(refusals.duplicateHeader)
    if (headers === 'too_many_headers') return refused(refusals.tooManyHeaders)
    if (headers.host === undefined) return refused(refusals.noHost)
    if (!this.#isOurHost(headers.host)) return refused(refusals.foreignHost)
    // @SECURITY A page that was not allowed opens nothing, not even with a valid token; open-gateway.test.ts.
    if (headers.origin !== undefined && !this.#origins.has(headers.origin)) {
      return refused(refusals.foreignOrigin)
    }
    return { kind: 'admitted', headers }
  }

  /** Identifies the agent. Wrong tokens are counted by address, and a valid one passes whatever was counted. */
  async identify(
    presented: PresentedToken,
    address: () => string | undefined,
  ): Promise<Known | Refused> {
    if (presented.kind === 'token') {
      const { token } = presented
      const agent = await this.#app.authenticateAgent(token)
      if (agent) return { kind: 'known', agent, token }
    }
    if (this.#failures.add(address()).limited) return refused(tooManyFailures)
    return refused(
      unauthenticated(
        presented.kind === 'token' ? 'the agent token is not valid' : presented.detail,
      ),
    )
  }
}

/** The token of an upgrade: the header, or `?token=` for clients that cannot set one; never both. */
export const upgradeToken = (
  authorization: string | undefined,
  inAddress: { readonly token: string | null; readonly twice: boolean },
  presentedToken: (token: string) => PresentedToken,
): PresentedToken | Refused => {
  if (inAddress.twice || (inAddress.token !== null && authorization !== undefined)) {
    return refused(refusals.twoTokens)
  }
  return inAddress.token === null ? bearerToken(authorization) : presentedToken(inAddress.token)
}
