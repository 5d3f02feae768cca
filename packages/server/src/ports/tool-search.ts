/** Finds capabilities by words of what they do. */
export interface ToolSearch {
  /**
   * Must return the names of all capabilities there are now in which words of the query occur, in their name,
   * purpose or arguments, the best first.
   */
  search(query: string): Promise<readonly string[]>
}
