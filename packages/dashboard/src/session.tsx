import type { Whoami } from '@gatehouse/contract'
import type { Permission } from '@gatehouse/contract/routes'
import { permits } from '@gatehouse/contract/routes/permissions'
import { ClientError } from '@gatehouse/rest-client'
import { useQuery } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import { api, sessionKey } from './api.ts'

/** Login of this browser; null where nobody is. */
export const useLogin = () =>
  useQuery({
    queryKey: sessionKey,
    queryFn: () =>
      api.showSession().catch((error: unknown) => {
        if (error instanceof ClientError && error.status === 401) return null
        throw error
      }),
    // The streams notice when a login ends, and it is asked for again when somebody comes back to the page.
    staleTime: 30_000,
  })

type Session = { readonly whoami: Whoami; readonly logOut: () => Promise<void> }

export const SessionContext = createContext<Session | null>(null)

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (!session) throw new Error('A page was shown to nobody.')
  return session
}

/** Whether the person may do this. What is hidden here is refused by the service too. */
export const useMay = (permission: Permission): boolean =>
  permits(useSession().whoami.role, permission)
