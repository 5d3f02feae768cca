/** The folder on this node in which the workspaces of agents lie. */
export interface Workspaces {
  /**
   * Id of the folder, kept in it: nodes that have the same one see the same folder, as a mount. Null where the store
   * has one node.
   */
  readonly site: string | null

  /** Where the folder lies. */
  readonly path: string

  /** Where the workspace of an agent lies. */
  pathOf(agent: string): string

  /** Must look whether the workspace of an agent is there. */
  holds(agent: string): boolean

  /**
   * Must give the workspace of an agent a name with this moment in it, durably and without changing what is in it, and return
   * that name; null where there is none.
   */
  setAside(agent: string, wallMs: number): string | null

  /**
   * Must put a new mark of this node into the folder, by which other nodes see that it is the same one, and return it.
   * Raises `NodeUnfit` where the folder does not keep what is written as a file system of this machine does.
   */
  mark(node: string): string

  /** Must return the mark of a node as it is seen here, or null. */
  markOf(node: string): string | null
}
