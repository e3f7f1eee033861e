"""The methods that an expression of a prompt may call: they look, and do not act."""

from __future__ import annotations

from collections.abc import Set


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LIBRARIES = _words("""
    dask geopandas jax narwhals networkx numpy pandas polars pyarrow scipy shapely sklearn statsmodels torch xarray
""")
# Of whatever has one. Others are called on what is Python's own or a library's: session.get() and path.replace() act.
OF_ANYTHING = _words("""
    count describe get_params isoformat item items json keys max mean median min size std sum summary to_dict
    to_list tolist total values var
""")
METHODS = OF_ANYTHING | _words("""
    abs add add_categories add_prefix add_suffix agg aggregate alias all any apply arg_sort argmax argmin argsort
    as_integer_ratio as_ordered as_unit asfreq asof assign astype at_time autocorr between between_time bfill
    bit_count bit_length capitalize casefold cast cat cdf ceil center clip collect columns combine_first compare
    concat conjugate contains convert_dtypes copy corr corrwith cov cumcount cummax cummin cumprod cumsum date
    day_name days_in_month decision_function decode degree det diagonal diff difference div divide divmod dot drop
    drop_duplicates drop_nulls droplevel dropna dst duplicated elements encode ends_with endswith entropy eq equals
    ewm expanding expandtabs explode extract extractall factorize ffill fill_nan fill_null fillna filter find
    findall first first_valid_index flatten floor floordiv fullmatch ge get get_column get_dummies
    get_feature_names_out get_group get_indexer get_level_values get_loc get_locs group_by groupby gt has_edge
    has_node head hex identical idxmax idxmin index infer_objects interpolate intersection inverse_transform
    is_duplicated is_empty is_in is_integer is_unique isalnum isalpha isascii isdecimal isdigit isdisjoint isel
    isidentifier isin islower isna isnull isnumeric isocalendar isoweekday isprintable isspace issubset issuperset
    istitle isupper iter_rows itertuples join kurt kurtosis last last_valid_index le len len_chars limit ljust
    logpdf lower lstrip lt map mask match melt memory_usage merge min_by mod mode month_name most_common mul
    multiply n_unique ne nearest neighbors ngroup nlargest nonzero normalize notna notnull nsmallest nth null_count
    number_of_edges number_of_nodes numpy nunique ohlc pad pct_change pdf pivot pivot_table pmf pow ppf predict
    predict_log_proba predict_proba prod ptp quantile quantize radd rank ravel rdiv reindex remove_categories
    removeprefix removesuffix rename rename_axis rename_categories reorder_categories reorder_levels repeat replace
    resample reset_index reshape reverse rfind rindex rjust rmod rmul rolling round row rows rpow rsplit rstrip rsub
    rtruediv sample score searchsorted sel select select_dtypes sem set_axis set_categories set_index set_levels
    set_names sf shift skew slice slice_replace sort sort_index sort_values split splitlines squeeze stack
    starts_with startswith strftime strip strip_chars sub subtract support swapaxes swapcase swaplevel
    symmetric_difference tail take time timestamp timetuple timetz title to_csv to_datetime64 to_dicts to_eng
    to_flat_index to_frame to_html to_json to_julian_date to_latex to_lowercase to_markdown to_numpy to_pandas
    to_period to_pydatetime to_pytimedelta to_series to_string to_timestamp to_uppercase top_k total_seconds trace
    transform transpose truediv truncate tz_convert tz_localize union unique unpivot unstack upper utcoffset
    value_counts weekday where with_columns with_row_index wrap write_csv write_json xs year zfill
""")
# Methods that change what they are called on, but in these libraries
ACTING: dict[str, Set[str]] = {
    **dict.fromkeys(("add", "subtract"), LIBRARIES),
    **dict.fromkeys(("reverse", "sort"), _words("polars")),
}
TEXTS = _words("to_csv to_html to_json to_latex to_markdown to_string write_csv write_json")  # or files
WRITTEN_TO = _words("buf file inplace out path path_or_buf")  # keywords that name what changes
NAMED_METHODS = _words("agg aggregate apply pivot_table transform")  # which call methods by name: df.agg("mean")
