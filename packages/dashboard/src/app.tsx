import type { Whoami } from '@gatehouse/contract'
import type { QueryKey } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { useCallback, useMemo, useState } from 'react'
import { api, queryClient, sessionKey } from './api.ts'
import { takeRecord } from './live/take-record.ts'
import { entryText } from './messages/entry.ts'
import { Entry } from './pages/entry/entry.tsx'
import { LoginForm } from './pages/entry/login-form.tsx'
import { router } from './router.tsx'
import { SessionContext, useLogin } from './session.tsx'
import { Dialog } from './ui/dialog.tsx'
import { Notice } from './ui/notice.tsx'
import { Loaded } from './ui/states.tsx'
import { Toasts } from './ui/toasts.tsx'

/** Takes the token of a setup link out of the address at once, so that no history keeps it. */
function takeSetupToken(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get('setup')
  if (token !== null) history.replaceState(null, '', location.pathname)
  return token
}
const setupToken = takeSetupToken()
addEventListener('hashchange', () => {
  if (location.hash.startsWith('#setup=')) location.reload()
})

/** Name and role together: what a page may show depends on both. */
const personOf = ({ name, role }: Whoami): string => `${role} ${name}`

/** Another person sees nothing of what the one before has read. */
async function enter(whoami: Whoami, before: Whoami | null): Promise<void> {
  // The login itself is replaced, not removed: what shows it would go on with the one that is removed.
  const predicate = ({ queryKey }: { readonly queryKey: QueryKey }) => queryKey[0] !== sessionKey[0]
  if (before && personOf(before) !== personOf(whoami)) queryClient.removeQueries({ predicate })
  takeRecord(queryClient, sessionKey, whoami)
  await queryClient.invalidateQueries({ predicate })
}

/**
 * The frame for the person who is logged in; while they log in again, the page stays as it was. Another person begins
 * with a new one: forms and tokens that are open are not theirs.
 */
const Inside = ({
  whoami,
  ended,
  onDone,
  onLeave,
}: {
  readonly whoami: Whoami
  readonly ended: boolean
  readonly onDone: (whoami: Whoami) => void
  readonly onLeave: () => void
}) => {
  const session = useMemo(
    () => ({
      whoami,
      logOut: async () => {
        await api.logOut()
        onLeave()
      },
    }),
    [whoami, onLeave],
  )
  return (
    <SessionContext value={session}>
      <RouterProvider key={personOf(whoami)} router={router} />
      {ended && (
        <Dialog title={entryText.ended} onClose={onLeave}>
          <div className="mb-4">
            <Notice>{entryText.pageKept}</Notice>
          </div>
          <LoginForm name={whoami.name} onDone={onDone} />
        </Dialog>
      )}
    </SessionContext>
  )
}

export const App = () => {
  const login = useLogin()
  /** The person who was logged in last, until they log out. */
  const [last, setLast] = useState<Whoami | null>(null)
  const [loggedOut, setLoggedOut] = useState(false)
  if (login.data && login.data !== last) setLast(login.data)
  const done = (whoami: Whoami) => {
    setLoggedOut(false)
    void enter(whoami, last)
  }
  const leave = useCallback(() => {
    setLast(null)
    queryClient.clear()
    queryClient.setQueryData(sessionKey, null)
    setLoggedOut(true)
  }, [])
  return (
    <>
      <Loaded query={login}>
        {(whoami) => {
          const shown = whoami ?? last
          return shown ? (
            <Inside whoami={shown} ended={whoami === null} onDone={done} onLeave={leave} />
          ) : (
            <Entry setupToken={setupToken} loggedOut={loggedOut} onDone={done} />
          )
        }}
      </Loaded>
      <Toasts />
    </>
  )
}
