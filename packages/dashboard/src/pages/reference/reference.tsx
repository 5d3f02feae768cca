import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { referenceText as text } from '../../messages/reference.ts'
import { Code } from '../../ui/code.tsx'
import { TextField } from '../../ui/field.tsx'
import { Page } from '../../ui/page.tsx'
import { Loaded } from '../../ui/states.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { fits, type OpenApi, type Operation, operationsIn } from './operations.ts'

const readDocument = async (): Promise<OpenApi> => {
  const response = await fetch('/api/openapi.json')
  if (!response.ok) throw new Error(text.failed(response.status))
  return (await response.json()) as OpenApi
}

const Part = ({ title, value }: { readonly title: string; readonly value: unknown }) => (
  <div>
    <h3 className="mb-1 font-medium">{title}</h3>
    <Code text={typeof value === 'string' ? value : JSON.stringify(value, null, 2)} label={title} />
  </div>
)

const Details = ({
  operation: { parameters, body, answers },
}: {
  readonly operation: Operation
}) => (
  <div className="grid grid-cols-1 gap-3 px-3 pb-3">
    {parameters.length > 0 && <Part title={text.parameters} value={parameters.join('\n')} />}
    {body !== undefined && <Part title={text.body} value={body} />}
    {answers.map(({ status, text: description, schema }) => (
      <Part key={status} title={`${text.answer(status)}`} value={schema ?? description} />
    ))}
  </div>
)

/** One operation; what it holds is drawn when it is opened. */
const OperationView = ({ operation }: { readonly operation: Operation }) => {
  const [open, setOpen] = useState(false)
  const { id, method, path, summary } = operation
  return (
    <details
      id={id}
      className="border-line not-last:border-b"
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary className="grid min-h-11 items-center gap-x-3 px-3 py-1.5 [overflow-wrap:anywhere] sm:grid-cols-[4.5rem_minmax(12rem,20rem)_1fr]">
        <span className="mono font-semibold">{method}</span>
        <span className="mono">{path}</span>
        <span className="text-ink-soft">{summary}</span>
      </summary>
      {open && <Details operation={operation} />}
    </details>
  )
}

export const ReferencePage = () => {
  const [{ words }, change] = useFilters({ words: '' })
  const document = useQuery({
    queryKey: ['openapi.json'],
    queryFn: readDocument,
    staleTime: Infinity,
  })
  const all = useMemo(() => document.data && operationsIn(document.data), [document.data])
  return (
    <Page title={text.title} intro={text.intro}>
      <TextField
        label={text.filter}
        hint={text.filterHint}
        type="search"
        className="mb-4 max-w-md"
        value={words}
        onChange={({ target }) => change({ words: target.value })}
      />
      <Loaded query={{ ...document, data: all }}>
        {(operations) => {
          const shown = operations.filter((operation) => fits(operation, words))
          return (
            <>
              <p role="status" className="mb-2 text-ink-soft">
                {shown.length === 0 ? text.none : text.count(shown.length, operations.length)}
              </p>
              {shown.length > 0 && (
                <div className="card">
                  {shown.map((operation) => (
                    <OperationView key={operation.id} operation={operation} />
                  ))}
                </div>
              )}
            </>
          )
        }}
      </Loaded>
    </Page>
  )
}
