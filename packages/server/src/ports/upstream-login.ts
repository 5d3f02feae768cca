/** A client that is registered at the authorization server already. */
export type GivenClient = { readonly id: string; readonly secret: string | null }

/** A login at a server, of one agent alone, or of all that have none of their own. */
export type LoginOf = { readonly name: string; readonly agent: string | null }

export type LoginOrder = LoginOf & {
  /** Of the MCP server. */
  readonly url: string
  /** Where the browser of the person brings the answer. */
  readonly redirect_url: string
  /** Null: one is registered for this login, or named by the address of its description. */
  readonly client: GivenClient | null
}

export type BegunLogin = {
  readonly address: string
  readonly state: string
  readonly issuer: string
  /** Wall clock. */
  readonly expires_ms: number
}

/** Part of a login that may be shown. */
export type Login = {
  readonly issuer: string
  readonly client_id: string
  readonly scopes: readonly string[]
}

/** Authorizes the service at servers that want OAuth. Tokens stay in the vault and on the way to their server. */
export interface UpstreamLogins {
  /**
   * Must find out where to log in, and keep what the answer is checked with in place of an earlier login that was
   * begun. Raises `UpstreamLoginRefused` for a server that wants no login or one of another kind, `UpstreamFailed`
   * where something does not answer.
   */
  begin(order: LoginOrder, signal: AbortSignal): Promise<BegunLogin>

  /**
   * Must check the answer against what was begun, once, keep the tokens, and answer for whom. Raises
   * `UpstreamLoginRefused` and `UpstreamFailed`; an earlier login then holds on.
   */
  finish(
    server: { readonly name: string; readonly url: string },
    redirected: string,
    signal: AbortSignal,
  ): Promise<Login & Pick<LoginOf, 'agent'>>

  /**
   * Must delete everything that is kept of this login, and of one that was begun, and answer whether the authorization
   * server has taken its tokens back. Raises `VaultLocked`.
   */
  end(login: LoginOf): Promise<{ readonly revoked: boolean }>
}
