import type { QueryClient, QueryKey } from '@tanstack/react-query'

/** Keeps a record that the service has just told. An answer on its way is older, and would replace it. */
export function takeRecord(client: QueryClient, queryKey: QueryKey, record: unknown): void {
  void client.cancelQueries({ queryKey, exact: true })
  client.setQueryData(queryKey, record)
}
