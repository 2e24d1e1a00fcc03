import { describe, expect, it } from 'vitest'
import { isSecretFile, isSecretFolder, isTestKey, secretName } from './secret-files.ts'

const KEY = '-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn\n'

describe('secret by its path', () => {
  it.each([
    ...['.env', '.env.local', 'app/.env.production', '.ENV', '.Env.Local', '.env.', 'a/b/.env.test', '.env.example.local'],
    ...['id_rsa', 'keys/id_ed25519', 'ID_RSA', 'id_rsa.old', 'x.p12', 'x.PFX', 'x.jks', 'vault.kdbx', 'ssh_host_rsa_key', 'a.ppk'],
    ...['.ssh/id_work', '.ssh/deploy', 'home/ann/.ssh/deploy', '.gnupg/secring.gpg', '.gnupg/private-keys-v1.d/a.key'],
    ...['.netrc', '_netrc', '.git-credentials', '.pgpass', '.htpasswd', '.docker/config.json', '.aws/credentials', '.kube/config'],
    ...['.config/gcloud/credentials.db', '.azure/accessTokens.json', 'prod.tfvars', 'terraform.tfstate', 'terraform.tfstate.backup'],
    ...['credentials.json', 'service-account.json', 'my-service_account-1.json', 'x-firebase-adminsdk-ab1.json', 'client_secret_1.json'],
    ...['secrets.yml', 'secrets.json', 'config/secrets.prod.toml', 'secret.env', '.bash_history', 'kubeconfig', '.cargo/credentials.toml'],
    'a\\b\\.env',
  ])('%s', (path) => {
    expect([isSecretFile(path), isSecretFile(path, 'anything')]).toEqual([true, true])
    expect(secretName(path)).toBe('secret')
  })

  it.each([
    ...['.env.example', '.env.sample', '.env.template', '.env.dist', '.env.local.example', 'env.ts', '.environment', 'dotenv.md'],
    ...[
      'id_rsa.pub',
      '.ssh/known_hosts',
      '.ssh/config',
      '.ssh/id_work.pub',
      'secrets.ts',
      'src/secrets.py',
      'secret-files.ts',
      'secrets.md',
    ],
    ...['secrets.example.yml', 'prod.tfvars.example', 'credentials.ts', 'src/credentials/index.ts', 'config.json', 'package.json', 'a.txt'],
    ...['keys.ts', 'monkey', 'docker/config.json', 'kube/config', 'service-accounts.md', 'main.tf', 'cookies.ts', '.github/x.yml'],
  ])('not %s', (path) => expect([isSecretFile(path), secretName(path)]).toEqual([false, undefined]))
})

describe('by its content, where the name does not say', () => {
  it.each([
    ['.npmrc', '//registry.npmjs.org/:_authToken=npm_x', 'registry=https://registry.npmjs.org/\nsave-exact=true'],
    ['.npmrc', '_password=eA==', ''],
    ['.yarnrc.yml', 'npmAuthToken: x', 'nodeLinker: node-modules'],
    ['.pypirc', '[pypi]\npassword = x', '[distutils]\nindex-servers = pypi'],
    ['server.pem', KEY, '-----BEGIN CERTIFICATE-----\nMII'],
    ['SERVER.PEM', `-----BEGIN CERTIFICATE-----\nMII\n${KEY}`, '-----BEGIN PUBLIC KEY-----'],
    ['key.asc', '-----BEGIN PGP PRIVATE KEY BLOCK-----', '-----BEGIN PGP PUBLIC KEY BLOCK-----'],
    ['config/master.key', '0123456789abcdef0123456789abcdef', '-----BEGIN PUBLIC KEY-----'],
    ['talk.key', '\x30\x82\x04', 'PK\x03\x04'],
    ['.envrc', 'export API_KEY=x', 'use flake'],
    ['prod.env', 'DATABASE_URL=postgres://u:p@h/d', 'PORT=80'],
  ])('%s', (path, secret, harmless) => {
    expect([isSecretFile(path, secret), isSecretFile(path, harmless)]).toEqual([true, false])
    // The content was not examined, so it counts as secret.
    expect([isSecretFile(path), secretName(path)]).toEqual([true, 'perhaps'])
  })
})

it.each([
  ['.ssh', true],
  ['home/.AWS', true],
  ['.config', true],
  ['src', false],
  ['.git', false],
])('folder %s: %s', (path, expected) => expect(isSecretFolder(path)).toBe(expected))

it.each([
  ['test/fixtures/server.pem', true],
  ['tests/id_rsa', true],
  ['src/__tests__/a.key', true],
  ['server.pem', false],
  ['test/.env', false],
  ['contest/server.pem', false],
])('a key among the tests: %s %s', (path, expected) => expect(isTestKey(path)).toBe(expected))
