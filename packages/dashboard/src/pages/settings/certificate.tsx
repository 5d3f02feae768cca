import type { Certificate } from '@gatehouse/contract'
import { useRead } from '../../api.ts'
import { settingsText as text } from '../../messages/settings.ts'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { Facts, Section } from '../../ui/page.tsx'
import { saveFile } from '../../ui/save-file.ts'
import { Loaded } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'

const mono = (value: string) => <span className="mono [overflow-wrap:anywhere]">{value}</span>

const Authority = ({
  authority,
}: {
  readonly authority: NonNullable<Certificate['authority']>
}) => {
  const save = () =>
    saveFile('gatehouse-ca.pem', new Blob([authority.pem], { type: 'application/x-pem-file' }))
  return (
    <Section title={text.authority} actions={<Button onClick={save}>{text.saveAuthority}</Button>}>
      <div className="card p-4">
        <Facts
          items={[
            [text.certificateFingerprint, mono(authority.fingerprint)],
            [text.expires, <Time key="until" at={authority.valid_until} />],
          ]}
        />
        <p className="mt-3 text-ink-soft">{text.authorityNext}</p>
        <Code text="gatehouse trust" label={text.trustCommand} />
      </div>
    </Section>
  )
}

/** Certificate of the page, until when it is valid, and how another takes its place. */
export const CertificateView = () => (
  <Loaded query={useRead('showCertificate')}>
    {({ origin, fingerprint, names, valid_from, valid_until, authority }) => (
      <>
        <Section title={text.certificate}>
          <div className="card p-4">
            <Facts
              items={[
                [text.certificateBy, text.certificateOrigins[origin]],
                [text.certificateNames, names.join(', ')],
                [text.certificateFingerprint, mono(fingerprint)],
                [text.validFrom, <Time key="from" at={valid_from} />],
                [text.expires, <Time key="until" at={valid_until} />],
              ]}
            />
            <p className="mt-3 text-ink-soft">{text.replaceCertificate[origin]}</p>
          </div>
        </Section>
        {authority && <Authority authority={authority} />}
      </>
    )}
  </Loaded>
)
