import type { Whoami } from '@gatehouse/contract'
import { type ReactNode, useEffect } from 'react'
import { useRead } from '../../api.ts'
import { entryText } from '../../messages/entry.ts'
import { setPageTitle, setPendingCount } from '../../shell/title.ts'
import { Snippet } from '../../ui/copy.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Loaded } from '../../ui/states.tsx'
import { LoginForm } from './login-form.tsx'
import { SetupForm } from './setup-form.tsx'

const Card = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => {
  useEffect(() => {
    setPageTitle(title)
    setPendingCount(0)
  }, [title])
  return (
    <main className="mx-auto grid grid-cols-1 min-h-dvh w-full max-w-md content-center gap-6 px-4 py-10">
      <p className="flex items-center justify-center gap-2.5 text-[1.2rem] font-semibold">
        <img src="/icon.svg" alt="" width="34" height="34" />
        Gatehouse
      </p>
      <div className="card grid grid-cols-1 gap-4 p-6">
        <h1 className="text-[1.267rem] font-semibold">{title}</h1>
        {children}
      </div>
    </main>
  )
}

const NoOperator = () => (
  <Card title={entryText.noOperator}>
    <p>{entryText.noOperatorIntro}</p>
    <Snippet text="gatehouse setup-link" />
    <p>{entryText.orPassword}</p>
    <Snippet text="gatehouse operator set-password < password.txt" />
  </Card>
)

type Done = { readonly onDone: (whoami: Whoami) => void }

const Login = ({ notice, onDone }: Done & { readonly notice: string | null }) => (
  <Card title={entryText.logIn}>
    {notice !== null && <Notice role="status">{notice}</Notice>}
    <LoginForm onDone={onDone} />
    <p className="text-[0.933rem] text-ink-soft">
      {entryText.lost} <code className="mono">gatehouse operator set-password</code>
    </p>
  </Card>
)

/** For nobody who is logged in: log in, or be the first. */
export const Entry = ({
  setupToken,
  loggedOut,
  onDone,
}: Done & { readonly setupToken: string | null; readonly loggedOut: boolean }) => {
  const setup = useRead('showSetup')
  return (
    <Loaded query={setup}>
      {({ needed }) => {
        if (needed && setupToken === null) return <NoOperator />
        if (needed && setupToken !== null)
          return (
            <Card title={entryText.setUp}>
              <p>{entryText.setUpIntro}</p>
              <SetupForm token={setupToken} onDone={onDone} />
            </Card>
          )
        const notice = loggedOut
          ? entryText.loggedOut
          : setupToken === null
            ? null
            : entryText.linkUsed
        return <Login notice={notice} onDone={onDone} />
      }}
    </Loaded>
  )
}
