import type { Phrase } from '../../phrases/phrases.ts';

/** The words of what `new` writes into a paper, in the paper's language. */
export interface SampleTexts {
  headline: string;
  dek: string;
  /** What RFC 3339 says, in one sentence, and what ISO 8601 says. */
  rfc: string;
  iso: string;
  /** Refers to both facts. */
  opening: string;
  heading: string;
  explanation: string;
  about: string;
  aboutText: Phrase<'paper' | 'persona'>;
  imprint: string;
  imprintText: Phrase<'paper'>;
  /** Who is responsible, and how to reach them: each to be filled in. */
  contact: readonly string[];
}

/** The texts for a language tag, and whether they are in another language than asked for: English. */
export function sampleTexts(language: string): { texts: SampleTexts; isEnglish: boolean } {
  const texts = SAMPLES[language.split('-')[0]?.toLowerCase() ?? ''];
  return texts === undefined ? { texts: EN, isEnglish: true } : { texts, isEnglish: false };
}

const EN: SampleTexts = {
  headline: 'How to write a day so that nobody misreads it',
  dek: 'A sample piece, and a draft: change it, or write your own beside it.',
  rfc: 'RFC 3339 defines a date and time format for use in Internet protocols.',
  iso: 'ISO 8601 is the international standard for the representation of dates and times.',
  opening:
    'In some countries 3/4 is a day in March, in others one in April. A date that is written with the year first, then the month and the day, can be read in one way only, and ISO 8601 is the standard for that.[^2] Internet protocols use a profile of it, RFC 3339.[^1]',
  heading: 'What is what in this file',
  explanation:
    'Everything between the two lines of hyphens describes the piece; the text follows. A mark such as the two above refers to an entry of `cited_facts` by its number. Each entry states one fact, and names who published it and where it can be checked. The filing door refuses a mark without an entry, and a piece with too few publishers.',
  about: 'About',
  aboutText: '{paper} is written by declared AI personas. {persona} signs the first pieces.',
  imprint: 'Imprint',
  imprintText: 'Who is responsible for {paper}, and how to reach them.',
  contact: ['Responsible: ⟦your name⟧', 'Address: ⟦street, town, country⟧', 'Mail: ⟦an address that somebody reads⟧'],
};

const SAMPLES: Record<string, SampleTexts> = {
  en: EN,
  de: {
    headline: 'Wie man ein Datum schreibt, das niemand falsch liest',
    dek: 'Ein Beispiel, und ein Entwurf: Ändern Sie es, oder schreiben Sie Ihren eigenen Beitrag daneben.',
    rfc: 'RFC 3339 legt ein Format für Datum und Uhrzeit in Internetprotokollen fest.',
    iso: 'ISO 8601 ist die internationale Norm für die Darstellung von Datum und Uhrzeit.',
    opening:
      'In manchen Ländern ist 3/4 ein Tag im März, in anderen einer im April. Ein Datum, das mit dem Jahr beginnt, dann den Monat und den Tag nennt, lässt sich nur auf eine Weise lesen; ISO 8601 ist die Norm dafür.[^2] Internetprotokolle verwenden ein Profil davon, RFC 3339.[^1]',
    heading: 'Was in dieser Datei was ist',
    explanation:
      'Alles zwischen den beiden Zeilen aus Bindestrichen beschreibt den Beitrag; danach folgt der Text. Eine Marke wie die beiden oben verweist mit ihrer Nummer auf einen Eintrag von `cited_facts`. Jeder Eintrag nennt eine Tatsache, wer sie veröffentlicht hat und wo sie sich prüfen lässt. Abgewiesen werden eine Marke ohne Eintrag und ein Beitrag mit zu wenigen Herausgebern.',
    about: 'Über uns',
    aboutText: '{paper} wird von ausgewiesenen KI-Personas geschrieben. {persona} zeichnet die ersten Beiträge.',
    imprint: 'Impressum',
    imprintText: 'Wer für {paper} verantwortlich ist und wie man diese Person erreicht.',
    contact: [
      'Verantwortlich: ⟦Ihr Name⟧',
      'Anschrift: ⟦Straße, Ort, Land⟧',
      'E-Mail: ⟦eine Adresse, die jemand liest⟧',
    ],
  },
  fr: {
    headline: 'Écrire une date que personne ne lit de travers',
    dek: 'Un exemple, et un brouillon : modifiez-le, ou écrivez le vôtre à côté.',
    rfc: 'La RFC 3339 définit un format de date et d’heure pour les protocoles d’Internet.',
    iso: 'ISO 8601 est la norme internationale de représentation des dates et des heures.',
    opening:
      'Dans certains pays, 3/4 est un jour de mars, dans d’autres un jour d’avril. Une date écrite avec l’année d’abord, puis le mois et le jour, ne se lit que d’une façon ; ISO 8601 en est la norme.[^2] Les protocoles d’Internet en utilisent un profil, la RFC 3339.[^1]',
    heading: 'Ce que contient ce fichier',
    explanation:
      'Tout ce qui se trouve entre les deux lignes de tirets décrit l’article ; le texte suit. Un renvoi comme les deux ci-dessus désigne par son numéro une entrée de `cited_facts`. Chaque entrée énonce un fait, nomme qui l’a publié et où le vérifier. Un renvoi sans entrée est refusé, de même qu’un article qui cite trop peu d’éditeurs.',
    about: 'À propos',
    aboutText: '{paper} est écrit par des personas d’IA déclarées. {persona} signe les premiers articles.',
    imprint: 'Mentions légales',
    imprintText: 'Qui est responsable de {paper}, et comment joindre cette personne.',
    contact: ['Responsable: ⟦votre nom⟧', 'Adresse: ⟦rue, ville, pays⟧', 'Courriel: ⟦une adresse que quelqu’un lit⟧'],
  },
  es: {
    headline: 'Cómo escribir una fecha que nadie lea mal',
    dek: 'Un ejemplo, y un borrador: cámbielo, o escriba el suyo al lado.',
    rfc: 'El RFC 3339 define un formato de fecha y hora para los protocolos de Internet.',
    iso: 'ISO 8601 es la norma internacional para representar fechas y horas.',
    opening:
      'En algunos países 3/4 es un día de marzo, en otros uno de abril. Una fecha escrita con el año primero, luego el mes y el día, solo se lee de una manera, e ISO 8601 es la norma para ello.[^2] Los protocolos de Internet usan un perfil suyo, el RFC 3339.[^1]',
    heading: 'Qué es cada cosa en este archivo',
    explanation:
      'Todo lo que está entre las dos líneas de guiones describe el artículo; después viene el texto. Una llamada como las dos de arriba remite por su número a una entrada de `cited_facts`. Cada entrada enuncia un hecho y dice quién lo publicó y dónde se comprueba. Se rechaza una llamada sin entrada y un artículo con muy pocos editores.',
    about: 'Acerca de',
    aboutText: '{paper} lo escriben personas de IA declaradas. {persona} firma los primeros artículos.',
    imprint: 'Aviso legal',
    imprintText: 'Quién es responsable de {paper} y cómo contactar.',
    contact: [
      'Responsable: ⟦su nombre⟧',
      'Dirección: ⟦calle, localidad, país⟧',
      'Correo: ⟦una dirección que alguien lea⟧',
    ],
  },
  pt: {
    headline: 'Como escrever uma data que ninguém leia mal',
    dek: 'Um exemplo, e um rascunho: altere-o, ou escreva o seu ao lado.',
    rfc: 'A RFC 3339 define um formato de data e hora para os protocolos da Internet.',
    iso: 'A ISO 8601 é a norma internacional para a representação de datas e horas.',
    opening:
      'Em alguns países 3/4 é um dia de março, noutros um de abril. Uma data escrita com o ano primeiro, depois o mês e o dia, só se lê de uma maneira, e a ISO 8601 é a norma para isso.[^2] Os protocolos da Internet usam um perfil dela, a RFC 3339.[^1]',
    heading: 'O que é o quê neste ficheiro',
    explanation:
      'Tudo o que está entre as duas linhas de hífenes descreve o artigo; segue-se o texto. Uma chamada como as duas acima remete pelo número para uma entrada de `cited_facts`. Cada entrada enuncia um facto e diz quem o publicou e onde se pode verificar. É recusada uma chamada sem entrada, e um artigo com poucos editores.',
    about: 'Sobre',
    aboutText: '{paper} é escrito por personas de IA declaradas. {persona} assina os primeiros artigos.',
    imprint: 'Ficha técnica',
    imprintText: 'Quem é responsável por {paper} e como contactar.',
    contact: ['Responsável: ⟦o seu nome⟧', 'Morada: ⟦rua, localidade, país⟧', 'E-mail: ⟦um endereço que alguém lê⟧'],
  },
  it: {
    headline: 'Come scrivere una data che nessuno legga male',
    dek: 'Un esempio, e una bozza: modificatelo, o scrivetene uno vostro accanto.',
    rfc: 'La RFC 3339 definisce un formato di data e ora per i protocolli di Internet.',
    iso: 'ISO 8601 è la norma internazionale per la rappresentazione di date e ore.',
    opening:
      'In alcuni paesi 3/4 è un giorno di marzo, in altri uno di aprile. Una data scritta con l’anno per primo, poi il mese e il giorno, si legge in un solo modo, e ISO 8601 ne è la norma.[^2] I protocolli di Internet ne usano un profilo, la RFC 3339.[^1]',
    heading: 'Che cosa contiene questo file',
    explanation:
      'Tutto ciò che sta tra le due righe di trattini descrive l’articolo; segue il testo. Un richiamo come i due qui sopra rimanda con il suo numero a una voce di `cited_facts`. Ogni voce enuncia un fatto e dice chi lo ha pubblicato e dove si può verificare. Viene rifiutato un richiamo senza voce, e un articolo con troppo pochi editori.',
    about: 'Chi siamo',
    aboutText: '{paper} è scritto da personas di IA dichiarate. {persona} firma i primi articoli.',
    imprint: 'Note legali',
    imprintText: 'Chi è responsabile di {paper} e come raggiungerlo.',
    contact: [
      'Responsabile: ⟦il vostro nome⟧',
      'Indirizzo: ⟦via, località, paese⟧',
      'E-mail: ⟦un indirizzo che qualcuno legge⟧',
    ],
  },
  nl: {
    headline: 'Hoe u een datum schrijft die niemand verkeerd leest',
    dek: 'Een voorbeeld, en een concept: verander het, of schrijf ernaast uw eigen stuk.',
    rfc: 'RFC 3339 legt een notatie voor datum en tijd in internetprotocollen vast.',
    iso: 'ISO 8601 is de internationale norm voor de weergave van datums en tijden.',
    opening:
      'In sommige landen is 3/4 een dag in maart, in andere een in april. Een datum met eerst het jaar, dan de maand en de dag is maar op één manier te lezen, en ISO 8601 is daarvoor de norm.[^2] Internetprotocollen gebruiken een profiel ervan, RFC 3339.[^1]',
    heading: 'Wat er in dit bestand staat',
    explanation:
      'Alles tussen de twee regels met streepjes beschrijft het stuk; daarna volgt de tekst. Een verwijzing zoals de twee hierboven wijst met haar nummer naar een post van `cited_facts`. Elke post noemt één feit, wie het publiceerde en waar het te controleren is. Een verwijzing zonder post wordt geweigerd, en een stuk met te weinig uitgevers ook.',
    about: 'Over ons',
    aboutText: '{paper} wordt geschreven door kenbaar gemaakte AI-persona’s. {persona} ondertekent de eerste stukken.',
    imprint: 'Colofon',
    imprintText: 'Wie verantwoordelijk is voor {paper}, en hoe die te bereiken is.',
    contact: ['Verantwoordelijk: ⟦uw naam⟧', 'Adres: ⟦straat, plaats, land⟧', 'E-mail: ⟦een adres dat iemand leest⟧'],
  },
  pl: {
    headline: 'Jak zapisać datę, której nikt nie odczyta błędnie',
    dek: 'Przykład i szkic: zmień go albo napisz obok własny tekst.',
    rfc: 'RFC 3339 określa format daty i czasu dla protokołów internetowych.',
    iso: 'ISO 8601 jest międzynarodową normą zapisu dat i czasu.',
    opening:
      'W jednych krajach 3/4 to dzień marca, w innych kwietnia. Datę zapisaną od roku, przez miesiąc, do dnia można odczytać tylko w jeden sposób, a normą jest tu ISO 8601.[^2] Protokoły internetowe używają jej profilu, RFC 3339.[^1]',
    heading: 'Co jest czym w tym pliku',
    explanation:
      'Wszystko między dwiema liniami z łączników opisuje tekst; po nich następuje jego treść. Odsyłacz taki jak dwa powyżej wskazuje numerem wpis w `cited_facts`. Każdy wpis podaje jeden fakt, kto go opublikował i gdzie można go sprawdzić. Odsyłacz bez wpisu jest odrzucany, podobnie jak tekst ze zbyt małą liczbą wydawców.',
    about: 'O nas',
    aboutText: '{paper} piszą jawne persony SI. Pierwsze teksty podpisuje {persona}.',
    imprint: 'Nota wydawcy',
    imprintText: 'Kto odpowiada za {paper} i jak się z nim skontaktować.',
    contact: [
      'Odpowiedzialny: ⟦imię i nazwisko⟧',
      'Adres: ⟦ulica, miejscowość, kraj⟧',
      'E-mail: ⟦adres, który ktoś czyta⟧',
    ],
  },
  uk: {
    headline: 'Як записати дату, яку ніхто не прочитає хибно',
    dek: 'Зразок і чернетка: змініть його або напишіть поруч власний матеріал.',
    rfc: 'RFC 3339 визначає формат дати й часу для протоколів інтернету.',
    iso: 'ISO 8601 — міжнародний стандарт запису дат і часу.',
    opening:
      'В одних країнах 3/4 — це день березня, в інших — квітня. Дату, записану від року через місяць до дня, можна прочитати лише одним способом, і стандартом для цього є ISO 8601.[^2] Протоколи інтернету використовують його профіль, RFC 3339.[^1]',
    heading: 'Що є чим у цьому файлі',
    explanation:
      'Усе між двома рядками з дефісів описує матеріал; далі йде текст. Позначка, як дві вище, номером указує на запис у `cited_facts`. Кожен запис називає один факт, хто його оприлюднив і де його можна перевірити. Позначку без запису буде відхилено, як і матеріал із замалою кількістю видавців.',
    about: 'Про нас',
    aboutText: '{paper} пишуть заявлені персони ШІ. Перші матеріали підписує {persona}.',
    imprint: 'Вихідні дані',
    imprintText: 'Хто відповідає за {paper} і як з ним зв’язатися.',
    contact: [
      'Відповідальна особа: ⟦ваше ім’я⟧',
      'Адреса: ⟦вулиця, місто, країна⟧',
      'Пошта: ⟦адреса, яку хтось читає⟧',
    ],
  },
  tr: {
    headline: 'Kimsenin yanlış okumayacağı bir tarih nasıl yazılır',
    dek: 'Bir örnek ve bir taslak: değiştirin ya da yanına kendi yazınızı yazın.',
    rfc: 'RFC 3339, internet protokolleri için bir tarih ve saat biçimi tanımlar.',
    iso: 'ISO 8601, tarih ve saatlerin gösterimi için uluslararası standarttır.',
    opening:
      'Bazı ülkelerde 3/4 martta, bazılarında nisanda bir gündür. Önce yıl, sonra ay ve gün yazılan bir tarih yalnızca bir biçimde okunur; bunun standardı ISO 8601’dir.[^2] İnternet protokolleri onun bir profilini, RFC 3339’u kullanır.[^1]',
    heading: 'Bu dosyada ne nedir',
    explanation:
      'İki tire satırı arasındaki her şey yazıyı tanımlar; ardından metin gelir. Yukarıdaki ikisi gibi bir işaret, numarasıyla `cited_facts` içindeki bir kayda gönderir. Her kayıt bir olguyu, onu kimin yayımladığını ve nerede doğrulanabileceğini belirtir. Kaydı olmayan bir işaret ve yayımcısı yetersiz bir yazı reddedilir.',
    about: 'Hakkında',
    aboutText: '{paper}, beyan edilmiş yapay zekâ personaları tarafından yazılır. İlk yazıları {persona} imzalar.',
    imprint: 'Künye',
    imprintText: '{paper} için kimin sorumlu olduğu ve ona nasıl ulaşılacağı.',
    contact: ['Sorumlu: ⟦adınız⟧', 'Adres: ⟦sokak, şehir, ülke⟧', 'E-posta: ⟦birinin okuduğu bir adres⟧'],
  },
  ja: {
    headline: '誰も読み違えない日付の書き方',
    dek: '見本の下書きです。書き換えるか、隣に自分の記事を書いてください。',
    rfc: 'RFC 3339はインターネットのプロトコルで使う日付と時刻の形式を定めている。',
    iso: 'ISO 8601は日付と時刻の表記の国際規格である。',
    opening:
      '3/4は、ある国では三月の一日を、別の国では四月の一日を指す。年、月、日の順に書いた日付は一通りにしか読めず、その規格がISO 8601である。[^2] インターネットのプロトコルはその一部を定めたRFC 3339を使う。[^1]',
    heading: 'このファイルの見方',
    explanation:
      'ハイフンの行に挟まれた部分が記事の情報で、その後に本文が続く。上の二つのような印は、番号で`cited_facts`の項目を指す。各項目は一つの事実と、その発行元と、確かめられる場所を示す。項目のない印や、発行元の少なすぎる記事は受け付けられない。',
    about: 'この新聞について',
    aboutText: '{paper}は、AIであることを明示したペルソナが書いています。最初の記事の署名は{persona}です。',
    imprint: '発行者情報',
    imprintText: '{paper}の責任者と連絡先。',
    contact: ['責任者: ⟦お名前⟧', '住所: ⟦番地、市町村、国⟧', 'メール: ⟦誰かが読むアドレス⟧'],
  },
  zh: {
    headline: '怎样写日期才不会被误读',
    dek: '一篇示例草稿：请修改它，或在旁边写您自己的文章。',
    rfc: 'RFC 3339规定了互联网协议使用的日期和时间格式。',
    iso: 'ISO 8601是日期和时间表示法的国际标准。',
    opening:
      '3/4在一些国家是三月的一天，在另一些国家是四月的一天。按年、月、日的顺序书写的日期只有一种读法，ISO 8601就是这方面的标准。[^2] 互联网协议使用它的一个子集，即RFC 3339。[^1]',
    heading: '这个文件里有什么',
    explanation:
      '两行连字符之间的内容描述这篇文章，其后是正文。像上面那两个标记，以编号指向`cited_facts`中的一项。每一项陈述一个事实，并写明由谁发布、在哪里可以核对。没有对应项的标记会被拒绝，发布者太少的文章也会被拒绝。',
    about: '关于我们',
    aboutText: '{paper}由公开声明的AI人格撰写。最初的文章由{persona}署名。',
    imprint: '出版信息',
    imprintText: '{paper}的负责人及联系方式。',
    contact: ['负责人: ⟦您的姓名⟧', '地址: ⟦街道、城市、国家⟧', '电子邮件: ⟦有人查看的地址⟧'],
  },
  ko: {
    headline: '아무도 잘못 읽지 않는 날짜 쓰기',
    dek: '예시 초안입니다. 고치거나, 옆에 직접 글을 쓰십시오.',
    rfc: 'RFC 3339는 인터넷 프로토콜에서 쓰는 날짜와 시각의 형식을 정한다.',
    iso: 'ISO 8601은 날짜와 시각 표기의 국제 표준이다.',
    opening:
      '3/4은 어떤 나라에서는 3월의 하루이고 다른 나라에서는 4월의 하루이다. 연도, 월, 일 순으로 쓴 날짜는 한 가지로만 읽히며, 그 표준이 ISO 8601이다.[^2] 인터넷 프로토콜은 그 프로파일인 RFC 3339를 쓴다.[^1]',
    heading: '이 파일의 구성',
    explanation:
      '하이픈 두 줄 사이의 내용이 글을 설명하고, 그 뒤에 본문이 온다. 위의 두 표시와 같은 것은 번호로 `cited_facts`의 항목을 가리킨다. 각 항목은 사실 하나와 그것을 누가 발표했는지, 어디서 확인할 수 있는지를 적는다. 항목이 없는 표시와 발행처가 너무 적은 글은 거부된다.',
    about: '소개',
    aboutText: '{paper}: 밝혀진 AI 페르소나가 씁니다. 첫 글에는 {persona}의 이름이 붙습니다.',
    imprint: '발행 정보',
    imprintText: '{paper}의 책임자와 연락처.',
    contact: ['책임자: ⟦성함⟧', '주소: ⟦거리, 도시, 국가⟧', '이메일: ⟦누군가 읽는 주소⟧'],
  },
  hi: {
    headline: 'तारीख ऐसे कैसे लिखें कि कोई उसे ग़लत न पढ़े',
    dek: 'एक नमूना और एक मसौदा: इसे बदलें, या इसके पास अपना लेख लिखें।',
    rfc: 'RFC 3339 इंटरनेट प्रोटोकॉल के लिए तारीख और समय का प्रारूप तय करता है।',
    iso: 'ISO 8601 तारीख और समय लिखने का अंतरराष्ट्रीय मानक है।',
    opening:
      'कुछ देशों में 3/4 मार्च का दिन है, कुछ में अप्रैल का। पहले वर्ष, फिर महीना और दिन लिखी तारीख एक ही तरह पढ़ी जा सकती है, और इसका मानक ISO 8601 है।[^2] इंटरनेट प्रोटोकॉल उसका एक रूप, RFC 3339, इस्तेमाल करते हैं।[^1]',
    heading: 'इस फ़ाइल में क्या है',
    explanation:
      'हाइफ़न की दो पंक्तियों के बीच का हिस्सा लेख का विवरण है; उसके बाद पाठ आता है। ऊपर के दो जैसा चिह्न अपनी संख्या से `cited_facts` की प्रविष्टि बताता है। हर प्रविष्टि एक तथ्य, उसका प्रकाशक और जाँच का स्थान बताती है। बिना प्रविष्टि का चिह्न, और बहुत कम प्रकाशकों वाला लेख अस्वीकार होता है।',
    about: 'परिचय',
    aboutText: '{paper} घोषित AI पर्सोना लिखते हैं। पहले लेखों पर {persona} का नाम है।',
    imprint: 'प्रकाशन विवरण',
    imprintText: '{paper} के लिए कौन ज़िम्मेदार है और उनसे कैसे संपर्क करें।',
    contact: ['ज़िम्मेदार: ⟦आपका नाम⟧', 'पता: ⟦सड़क, शहर, देश⟧', 'ईमेल: ⟦ऐसा पता जिसे कोई पढ़ता हो⟧'],
  },
  ar: {
    headline: 'كيف تكتب تاريخًا لا يخطئ أحد في قراءته',
    dek: 'مثال ومسودة: غيّره، أو اكتب مادتك إلى جانبه.',
    rfc: 'تحدد RFC 3339 صيغة للتاريخ والوقت في بروتوكولات الإنترنت.',
    iso: 'ISO 8601 هو المعيار الدولي لتمثيل التواريخ والأوقات.',
    opening:
      'في بعض البلدان 3/4 يوم من مارس، وفي أخرى يوم من أبريل. التاريخ الذي يبدأ بالسنة ثم الشهر ثم اليوم لا يُقرأ إلا على وجه واحد، ومعياره ISO 8601.[^2] وتستخدم بروتوكولات الإنترنت صيغة منه هي RFC 3339.[^1]',
    heading: 'ما الذي في هذا الملف',
    explanation:
      'كل ما بين سطري الشرطات يصف المادة، ثم يأتي النص. العلامة، مثل الاثنتين أعلاه، تحيل برقمها إلى مدخل في `cited_facts`. يذكر كل مدخل حقيقة واحدة، ومن نشرها، وأين يمكن التحقق منها. تُرفض علامة بلا مدخل، ومادة ناشروها قليلون.',
    about: 'من نحن',
    aboutText: 'تكتب {paper} شخصيات ذكاء اصطناعي معلنة. يوقّع {persona} المواد الأولى.',
    imprint: 'بيانات الناشر',
    imprintText: 'من المسؤول عن {paper} وكيف يمكن الوصول إليه.',
    contact: ['المسؤول: ⟦اسمك⟧', 'العنوان: ⟦الشارع، المدينة، البلد⟧', 'البريد: ⟦عنوان يقرؤه أحد⟧'],
  },
  he: {
    headline: 'איך כותבים תאריך שאיש לא יטעה בקריאתו',
    dek: 'דוגמה וטיוטה: שנו אותה, או כתבו לצידה ידיעה משלכם.',
    rfc: 'RFC 3339 מגדיר תבנית של תאריך ושעה לפרוטוקולים של האינטרנט.',
    iso: 'ISO 8601 הוא התקן הבין-לאומי לייצוג תאריכים ושעות.',
    opening:
      'בארצות אחדות 3/4 הוא יום במרץ, ובאחרות יום באפריל. תאריך שנכתב מהשנה, דרך החודש, אל היום נקרא רק בדרך אחת, והתקן לכך הוא ISO 8601.[^2] פרוטוקולים של האינטרנט משתמשים בפרופיל שלו, RFC 3339.[^1]',
    heading: 'מה יש בקובץ הזה',
    explanation:
      'כל מה שבין שתי שורות המקפים מתאר את הידיעה; אחריו בא הטקסט. סימון כמו השניים שלמעלה מפנה במספרו לרשומה ב-`cited_facts`. כל רשומה מציינת עובדה אחת, מי פרסם אותה והיכן אפשר לבדוק אותה. סימון בלי רשומה נדחה, וכך גם ידיעה עם מעט מדי מפרסמים.',
    about: 'אודות',
    aboutText: '{paper} נכתב בידי פרסונות בינה מלאכותית מוצהרות. על הידיעות הראשונות חתומה הפרסונה {persona}.',
    imprint: 'פרטי המוציא לאור',
    imprintText: 'מי אחראי ל{paper} ואיך אפשר לפנות אליו.',
    contact: ['אחראי: ⟦השם שלכם⟧', 'כתובת: ⟦רחוב, יישוב, ארץ⟧', 'דואר: ⟦כתובת שמישהו קורא⟧'],
  },
};
