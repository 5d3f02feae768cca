/** For whom, for what and where a secret would be used. All of it is checked against its scope. */
export type SecretUse = {
  readonly name: string
  /** Null: the service itself, for a connection that an operator set up. */
  readonly agent: string | null
  /** The capability, or `service:<name>` for the service itself. */
  readonly capability: string
  /**
   * The host that the value is sent to, in lower case, with `:port` unless it is 443 (`URL.host` of an https
   * URL); null where it leaves for no host.
   */
  readonly host: string | null
  /** Of the call that it belongs to, for the log. */
  readonly request_id?: string
  readonly session_id?: string | null
}

/** Names and where they may be used; never a value. */
export type SecretListing = {
  readonly name: string
  readonly description: string
  readonly capabilities: readonly string[]
  readonly hosts: readonly string[]
}

/** Secrets by name: used where their scope lets them, never handed to an agent. */
export interface Secrets {
  /**
   * Must call `work` with the value only if the scope of the secret names this agent, capability and host;
   * must record the use before that. Raises `VaultLocked`, `VaultTampered`, and `SecretNotAllowed` for
   * whatever is not allowed or not there: an agent is told the same of both.
   */
  use<T>(use: SecretUse, work: (value: string) => Promise<T>): Promise<T>

  /** Must list what this agent may use, and nothing about the others. */
  listFor(agent: string): Promise<readonly SecretListing[]>

  /**
   * Must replace every occurrence of the value of any secret used since the service started, plain or in a
   * usual encoding, by `[secret:<name>]`: in text, and in every string of a JSON value.
   */
  scrub<T>(value: T): T

  /** Must replace the value by `[secret:<name>]` from now on, too; of each name the newest few are known. */
  hide(name: string, value: string): void

  /** The same for a stream, whatever the chunks: holds back as many bytes as the longest form may need. */
  scrubStream(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>

  /**
   * Must keep a value for the service itself, such as a mail password, under `service:<name>` and no agent's
   * reach; it is used by either name with `agent: null`. Raises `SecretRefused` for a value that is too short.
   */
  keepForService(name: string, value: string): Promise<void>
  forgetForService(name: string): Promise<void>
}
