import type { Question, QuestionAction } from '@gatehouse/contract'
import { useState } from 'react'
import { api, queryClient, useRead } from '../../api.ts'
import { approvalsText } from '../../messages/approvals.ts'
import { questionsText as text } from '../../messages/questions.ts'
import { useMay } from '../../session.tsx'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { Failure, Notice } from '../../ui/notice.tsx'
import { hostIn, OutsideLink } from '../../ui/outside-link.tsx'
import { Facts, Section } from '../../ui/page.tsx'
import { Countdown, Time } from '../../ui/time.tsx'
import { announce } from '../../ui/toasts.tsx'
import { useAct } from '../../ui/use-act.ts'
import { mixedWordsIn, Visible } from '../../ui/visible.tsx'
import { QuestionFields } from './question-fields.tsx'
import { defaultsOf, valuesOf } from './question-values.ts'

/** Everything that a person answers to: the words are the server's, and nothing of them is hidden. */
const Asked = ({ question }: { readonly question: Question }) => {
  const { capability, agent, other_calls, message, url, asked_at, expires_at } = question
  const mixed = mixedWordsIn(`${message}\n${url ?? ''}`)
  return (
    <>
      <Facts
        items={[
          [
            text.call,
            <span key="call">
              <Visible text={text.callOf(capability, agent)} />
              {other_calls > 0 && <p className="text-ink-soft">{text.others(other_calls)}</p>}
            </span>,
          ],
          [
            text.asked,
            <span key="asked">
              <Time at={asked_at} /> · {text.left} <Countdown until={expires_at} over={text.over} />
            </span>,
          ],
        ]}
      />
      {mixed.length > 0 && (
        <Notice tone="warn">
          <Visible text={approvalsText.mixed(mixed.slice(0, 5).join(', '))} />
        </Notice>
      )}
      <div>
        <h3 className="mb-1 text-ink-soft">{text.words}</h3>
        <Code text={message} label={text.words} />
      </div>
      {url !== null && (
        <div>
          <h3 className="mb-1 text-ink-soft">{text.opens}</h3>
          <Code text={url} label={text.opens} />
          <p className="mt-1 text-ink-soft">{text.opensNote}</p>
          <OutsideLink address={url}>{text.open(hostIn(url))}</OutsideLink>
        </div>
      )}
    </>
  )
}

const AnswerForm = ({ question }: { readonly question: Question }) => {
  const { id, kind, fields, upstream } = question
  const act = useAct()
  const [typed, setTyped] = useState(() => defaultsOf(fields))
  const send = (action: QuestionAction) =>
    void act.run(async () => {
      const values = action === 'accept' && kind === 'form' ? valuesOf(fields, typed) : undefined
      await api.answerQuestion({ id, action, ...(values ? { values } : {}) })
      announce(text.done[action](upstream))
      await queryClient.invalidateQueries({ queryKey: ['listQuestions'] })
    })
  return (
    <form
      className="grid gap-3 border-t border-line pt-3"
      onSubmit={(event) => {
        event.preventDefault()
        send('accept')
      }}
    >
      <QuestionFields fields={fields} typed={typed} onChange={setTyped} />
      {fields.length > 0 && <p className="text-ink-soft">{text.careful}</p>}
      <Failure error={act.error} />
      <div className="flex flex-wrap gap-2">
        <Button type="submit" tone="primary" icon="check" busy={act.busy}>
          {kind === 'url' ? text.opened : text.answer}
        </Button>
        <Button tone="danger" icon="cross" busy={act.busy} onClick={() => send('decline')}>
          {text.decline}
        </Button>
        <Button busy={act.busy} onClick={() => send('cancel')}>
          {text.leave}
        </Button>
      </div>
    </form>
  )
}

/** Questions that servers ask people in the middle of calls; nothing where nobody asks. */
export const Questions = () => {
  const questions = useRead('listQuestions').data?.questions ?? []
  const mayAnswer = useMay('approvals.decide')
  if (questions.length === 0) return null
  return (
    <div className="mb-6">
      <Section title={text.title}>
        <p className="mb-3 max-w-prose text-ink-soft">{text.intro}</p>
        <div className="grid grid-cols-1 gap-4">
          {questions.map((question) => (
            <article
              key={question.id}
              className="card grid min-w-0 grid-cols-1 gap-3 p-4"
              aria-label={text.heading(question.upstream)}
              data-question={question.id}
            >
              <h3 className="text-[1.067rem] font-semibold [overflow-wrap:anywhere]">
                {text.heading(question.upstream)}
              </h3>
              <Asked question={question} />
              {mayAnswer && <AnswerForm question={question} />}
            </article>
          ))}
        </div>
      </Section>
    </div>
  )
}
